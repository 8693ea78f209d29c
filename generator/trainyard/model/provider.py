"""Kinds of fabrics: what pods request, who owns the network, what separates teams there.

Adding a kind whose devices a plugin advertises is adding a `Provider` here. Nothing else asks for
one by its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from trainyard.model.link import INFINIBAND, ROCE, Link
from trainyard.model.named import by_name


class Request(Enum):
    """What a pod requests of a fabric."""

    RAILS = "one virtual function of each rail"
    """Of virtual functions that the tree makes, each with the team's own network."""

    DEVICES = "every device of the node"
    """N of one extended resource, by the hardware: a device belongs to one pod."""

    SLOT = "one slot"
    """1 of one extended resource, whatever the number of ports: pods share them."""


class Separation(Enum):
    """What a fabric keeps apart by itself."""

    PODS = "pods"
    """Each pod is in the segment of its team, on any node."""

    POOLS = "pools"
    """What the network's owner binds to the nodes: every pod on them reaches every other."""

    NOTHING = "nothing"
    """Pods of all nodes reach each other."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A kind of fabric.

    Args:
        title: its name in the field, for pages.
        places: where people have it: clouds, or servers of their own.
        request: what a pod requests.
        link: technology of the rails; None where it has none.
        devices: extended resource that pods request; empty where the profile names it, or for
            rails.
        network_owner: who makes the objects of the network.
        external: kinds under which a cluster declares the owners of what it needs.
        separation: what it keeps apart by itself.
        separated_by: what does so, in the field's words.
        whole_nodes: whether a pod must have all devices of its node, or its GPUs and its devices
            would be on different sides of the node.
        environment: variables of every rank.
        launcher: variables of what starts ranks, by the launcher's name.
        ucx: whether UCX has a transport for it that is known to work (verbs).
        proof: what NCCL's log has where the fabric is used, as a pattern of the shell.
        needs: what its owner sets up, one sentence each; ``{devices}`` is the resource.
        quota: how Kueue counts it, one sentence.
    """

    name: str
    title: str
    places: tuple[str, ...]
    request: Request
    link: Link | None
    devices: str
    network_owner: str
    external: tuple[str, ...]
    separation: Separation
    separated_by: str
    whole_nodes: bool
    proof: str
    needs: tuple[str, ...]
    quota: str
    ucx: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)
    launcher: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def names_devices(self) -> bool:
        """Return whether the profile of a fabric names the resource."""
        return self.request is not Request.RAILS and not self.devices


_UCX = {"openmpi": {"OMPI_MCA_pml": "ucx"}}
_VERBS = "NET/IB"
_PLUGIN = "DevicePlugin"
"""Who runs what advertises the devices."""
_POOL_NETWORKS = "PoolNetworks"
"""Who keeps the network of each pool apart from that of the others."""
_ADVERTISED = "Each node advertises {devices} to Kubernetes, by a device plugin that others run."
_GIVEN = (
    "Pods see the RDMA devices that the plugin gives them, in the network that the fabric's "
    "`network` names, if it names one."
)
_NO_LIMIT = "Containers of the nodes may lock memory without limit."


def _rails(link: Link, title: str, separated_by: str) -> Provider:
    """Return the provider of virtual functions that the SR-IOV operator makes for the tree."""
    return Provider(
        name=link.name,
        title=title,
        places=("servers of your own",),
        request=Request.RAILS,
        link=link,
        devices="",
        network_owner="Trainyard",
        external=link.external,
        separation=Separation.PODS,
        separated_by=separated_by,
        whole_nodes=False,
        proof=_VERBS,
        needs=(),
        quota="Virtual functions of each rail, of the team's nodes.",
        launcher=_UCX,
    )


_EFA = Provider(
    name="efa",
    title="AWS Elastic Fabric Adapter",
    places=("AWS: p4d, p5, p5e, p5en, p6-b200 and others with EFA",),
    request=Request.DEVICES,
    link=None,
    # aws/eks-charts:stable/aws-efa-k8s-device-plugin@5239609. One device belongs to one pod.
    devices="vpc.amazonaws.com/efa",
    network_owner="the cloud",
    external=(_PLUGIN, _POOL_NETWORKS),
    separation=Separation.POOLS,
    # aws/aws-ofi-nccl#663; EC2 User Guide, "Get started with EFA".
    separated_by="a security group of the pool's own",
    whole_nodes=True,
    proof="NET/OFI",
    needs=(
        _ADVERTISED,
        "The security group of the nodes is the pool's own.",
        "Its rules permit all traffic from itself and to itself: EFA needs both by name.",
        "The nodes are in one availability zone.",
        # awslabs/awsome-distributed-ai#647: 64 KiB of locked memory abort a job.
        _NO_LIMIT,
        # aws-samples/aws-do-eks#63.
        "Nothing mounts `/dev/infiniband` of the host: libfabric then finds no EFA.",
        "Images have libfabric and aws-ofi-nccl; without them NCCL falls back to TCP.",
    ),
    quota="All devices of the team's nodes: EFA of a node goes with the whole node.",
    ucx=False,
    # Data loaders fork, which libfabric's huge pages do not survive
    # (aws/aws-ofi-nccl:doc/efa-env-var.md@2daf7d3).
    environment={"FI_EFA_USE_HUGE_PAGE": "0"},
    # MPI only starts ranks; UCX and libfabric's matching layer are left out, as AWS's samples do
    # (aws-samples/awsome-distributed-training:micro-benchmarks/nccl-tests/kubernetes@7217859).
    launcher={"openmpi": {"OMPI_MCA_pml": "^cm,ucx", "OMPI_MCA_btl": "tcp,self"}},
)

_EXCLUSIVE = Provider(
    name="exclusive-devices",
    title="RDMA devices that the cluster's owner advertises, each for one pod",
    places=(
        "Azure: ND A100 v4, ND H100 v5, ND H200 v5",
        "OCI: BM.GPU shapes with `nvidia.com/rdma-vf`",
        "whole ports (host-device), and virtual machines with RDMA functions",
    ),
    request=Request.DEVICES,
    link=None,
    # Azure/aks-rdma-infiniband:configs/nicclusterpolicy@700dabb (`rdma/ib`, one unit an HCA);
    # Mellanox/network-operator-docs@0c0ecad (`nvidia.com/hostdev`, a whole port of the node);
    # oracle-quickstart/oci-hpc-oke:docs/using-rdma-network-interfaces-in-manifests.md@61d210a.
    devices="",
    network_owner="the cluster's owner",
    external=(_PLUGIN, _POOL_NETWORKS),
    separation=Separation.POOLS,
    separated_by="a partition, placement group or VLAN that is bound to the pool's nodes",
    whole_nodes=True,
    proof=_VERBS,
    needs=(
        _ADVERTISED,
        _GIVEN,
        "No other pool has the partition, placement group or VLAN of the nodes.",
        _NO_LIMIT,
        # Azure/aks-rdma-infiniband:tests/scenarios/nvidia-topology@700dabb.
        "In virtual machines, images have the machine's topology file and set `NCCL_TOPO_FILE`.",
    ),
    quota="All devices of the team's nodes: those of a node go with the whole node.",
    launcher=_UCX,
)

_FLAT = Provider(
    name="flat-sriov",
    title="SR-IOV virtual functions of others, all in one partition or VLAN",
    places=("servers of your own, in the default partition of InfiniBand or untagged VLAN",),
    request=Request.DEVICES,
    link=None,
    # k8snetworkplumbingwg/sriov-network-operator:README.md@v1.6.0: a SriovNetwork without `vlan`.
    devices="",
    network_owner="the cluster's owner",
    external=(_PLUGIN,),
    separation=Separation.NOTHING,
    separated_by="nothing: all virtual functions are in one partition or VLAN",
    whole_nodes=True,
    proof=_VERBS,
    needs=(
        _ADVERTISED,
        _GIVEN,
        "Each virtual function has an address that no other has.",
        _NO_LIMIT,
    ),
    quota="All virtual functions of the team's nodes: those of a node go with the whole node.",
    launcher=_UCX,
)

_SHARED = Provider(
    name="shared-device",
    title="RDMA devices that the shared device plugin gives to every pod that asks",
    # CoreWeave documentation, "Use GPUDirect RDMA": `rdma/ib: 1` is no count; Nebius has the same
    # (ai-dynamo/dynamo:recipes, Qwen3-32B cross-CSP README).
    places=("CoreWeave and Nebius (`rdma/ib`)", "servers with the shared device plugin"),
    request=Request.SLOT,
    link=None,
    # Mellanox/k8s-rdma-shared-dev-plugin:README.md@410b0f3: capacity is rdmaHcaMax, whatever the
    # number of ports.
    devices="",
    network_owner="the cluster's owner",
    external=(_PLUGIN,),
    separation=Separation.NOTHING,
    separated_by="nothing: each pod has every port of its node",
    whole_nodes=False,
    proof=_VERBS,
    needs=(
        _ADVERTISED,
        # Mellanox/k8s-rdma-shared-dev-plugin#44.
        "The plugin advertises {devices} where no port matches too: try each node with `nccl`.",
        # Mellanox/k8s-rdma-shared-dev-plugin:pkg/resources/resources_manager.go@410b0f3.
        "The RDMA devices of the nodes are in shared mode (`rdma system`).",
        _NO_LIMIT,
    ),
    quota="Slots of the team's nodes, which are never short: GPUs and CPUs limit its jobs.",
    launcher=_UCX,
)

PROVIDERS: Mapping[str, Provider] = by_name(
    (
        _rails(INFINIBAND, "InfiniBand by SR-IOV", "a partition of the team's own"),
        _rails(ROCE, "RoCE by SR-IOV", "a VLAN of the team's own"),
        _EFA,
        _EXCLUSIVE,
        _FLAT,
        _SHARED,
    )
)
"""By the name in a fabric's profile."""
