"""The kinds of fabrics.

Adding a kind whose devices or networks are others' is adding a `Provider` here. Nothing else asks
for one by its name.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.model.link import INFINIBAND, ROCE, Link
from trainyard.model.named import by_name
from trainyard.model.provider import Annotations, Provider, Request, Separation

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
_STARTED_BY_TCP = {"openmpi": {"OMPI_MCA_pml": "^cm,ucx", "OMPI_MCA_btl": "tcp,self"}}
"""MPI only starts ranks, as the samples of AWS and Google have it: UCX and libfabric's matching
layer are left out (aws-samples/awsome-distributed-training:micro-benchmarks/nccl-tests@7217859;
GoogleCloudPlatform/cluster-toolkit:examples/gke-a3-ultragpu@1047080)."""


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
    launcher=_STARTED_BY_TCP,
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
    # CoreWeave documentation, "Use GPUDirect RDMA": `rdma/ib: 1` counts nothing; so has Nebius
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

_GKE = Provider(
    name="gke-rdma",
    title="GPUDirect RDMA of GKE, by its networks for pods",
    # GoogleCloudPlatform/container-engine-accelerators:gpudirect-rdma/nccl-rdma-installer.yaml
    # @992db81: the accelerators that it is for.
    places=("GKE: a3-ultragpu-8g, a4-highgpu-8g",),
    request=Request.INTERFACES,
    link=None,
    devices="",
    network_owner="the cluster's owner",
    external=(_PLUGIN, _POOL_NETWORKS),
    separation=Separation.POOLS,
    # GoogleCloudPlatform/cluster-toolkit:examples/gke-a3-ultragpu/gke-a3-ultragpu.yaml@1047080:
    # a VPC with the network profile of RoCE, whose subnets the node pool's ports are in.
    separated_by="a VPC for RDMA of the pool's own, with networks of its own",
    whole_nodes=True,
    # NCCL's log on a4-highgpu-8g, as published: `NET/gIB/0/GDRDMA`.
    proof="NET/gIB",
    needs=(
        "Each of {devices} is a `Network` (`networking.gke.io/v1`) of type `Device`.",
        "Its `GKENetworkParamSet` has `deviceMode: RDMA`, and a subnet of its own.",
        "GKE refuses pods that name another, and adds the requests for these to them.",
        "No other pool has the VPC of these networks.",
        _NO_LIMIT,
        # .../gpudirect-rdma/nccl-rdma-installer.yaml@992db81 copies the folder `/var/lib/gib` of
        # this image to the hosts. Google's samples mount that; no restricted pod may.
        (
            "Images have `/usr/local/gib`: the folder `/var/lib/gib` of Google's image "
            "`nccl-plugin-gib`, which no pod here can mount from the host."
        ),
        (
            "Images have its `lib64` in `LD_LIBRARY_PATH`, and the variables of its "
            "`scripts/set_nccl_env.sh`."
        ),
    ),
    quota="Nothing beside GPUs: the networks of a node go with the whole node.",
    ucx=False,
    # GoogleCloudPlatform/cluster-toolkit:examples/gke-a3-ultragpu/nccl-jobset-example.yaml
    # @1047080. Without it NCCL falls back to sockets where an image lacks gIB.
    environment={"NCCL_NET": "gIB"},
    launcher=_STARTED_BY_TCP,
    # GoogleCloudPlatform/container-engine-accelerators:gpudirect-rdma/nccl-test.yaml@992db81:
    # eth1 is left to a second network of TCP, and no container is privileged.
    annotations=Annotations(
        interfaces="networking.gke.io/interfaces",
        default="networking.gke.io/default-interface",
        first=2,
        # Nodes have one of both or the first (llm-d/llm-d#1738, NVIDIA/cluster-readiness-engine).
        resources=("networking.gke.io.networks/{}", "networking.gke.io.networks/{}.IP"),
    ),
)

PROVIDERS: Mapping[str, Provider] = by_name(
    (
        _rails(INFINIBAND, "InfiniBand by SR-IOV", "a partition of the team's own"),
        _rails(ROCE, "RoCE by SR-IOV", "a VLAN of the team's own"),
        _EFA,
        _EXCLUSIVE,
        _FLAT,
        _SHARED,
        _GKE,
    )
)
"""By the name in a fabric's profile."""
