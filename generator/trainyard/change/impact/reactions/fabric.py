"""Reactions of the SR-IOV operator and of what attaches pods to a fabric."""

from __future__ import annotations

from trainyard.change.impact import reach
from trainyard.change.impact.model import Effect
from trainyard.change.impact.reaction import Condition, Reaction, always, quiet
from trainyard.change.impact.reactions.conditions import becomes, is_set, of_nvidia

_OPERATOR = "k8snetworkplumbingwg/sriov-network-operator"
_FIRMWARE = f"{_OPERATOR}:pkg/plugins/mellanox/mellanox_plugin.go@v1.6.0"
_GENERIC = f"{_OPERATOR}:pkg/plugins/generic/generic_plugin.go@v1.6.0"
_NEEDED = f"{_OPERATOR}:api/v1/helper.go@v1.6.0"
_DEVICES = f"{_OPERATOR}:controllers/sriovnetworknodepolicy_controller.go@v1.6.0"
_EVICTED = "A job with a pod there fails, and starts again only if its runtime has `restarts`."
_DRAINED = f"The operator empties each node of pods with virtual functions. {_EVICTED}"
_RESET = f"The operator empties each node, writes the cards' firmware and reboots. {_EVICTED}"
_KERNEL = f"The operator empties each node, changes a kernel argument and reboots. {_EVICTED}"
_POOL = "SriovNetworkPoolConfig"


def _drains(fields: str, cause: str, when: Condition = always, condition: str = "") -> Reaction:
    return Reaction(
        kind="SriovNetworkNodePolicy",
        change="changed",
        fields=fields,
        when=when,
        condition=condition,
        effect=Effect.DRAINS,
        cause=cause,
        consequence=_DRAINED,
        source=_NEEDED,
        reach=reach.pool,
        pace=_POOL,
    )


def _firmware(fields: str, cause: str) -> Reaction:
    return Reaction(
        kind="SriovNetworkNodePolicy",
        change="changed",
        fields=fields,
        when=of_nvidia,
        condition="is about a card of NVIDIA",
        effect=Effect.REBOOTS,
        cause=cause,
        consequence=_RESET,
        source=_FIRMWARE,
        reach=reach.pool,
        pace=_POOL,
    )


_POLICY = (
    _drains("spec.mtu", "MTU of the rails of pool `{pool}` {change}", is_set, "gets a value"),
    Reaction(
        kind="SriovNetworkNodePolicy",
        change="changed",
        fields="spec.mtu",
        consequence="Without a value the ports keep the MTU that they have.",
        source=_NEEDED,
    ),
    _firmware("spec.numVfs", "virtual functions of the rails of pool `{pool}` {change}"),
    _drains("spec.numVfs", "virtual functions of the rails of pool `{pool}` {change}"),
    _firmware("spec.linkType", "link of the rails of pool `{pool}` {change}"),
    Reaction(
        kind="SriovNetworkNodePolicy",
        change="changed",
        fields="spec.deviceType",
        when=becomes("vfio-pci"),
        condition="becomes `vfio-pci`",
        effect=Effect.REBOOTS,
        cause="driver of the rails of pool `{pool}` {change}",
        consequence=_KERNEL,
        source=_GENERIC,
        reach=reach.pool,
        pace=_POOL,
    ),
    _drains("spec.deviceType", "driver of the rails of pool `{pool}` {change}"),
    _firmware("spec.nicSelector", "cards of the rails of pool `{pool}` change"),
    _drains("spec.nicSelector", "cards of the rails of pool `{pool}` change"),
    _firmware("spec.nodeSelector", "node labels of pool `{pool}` change"),
    _drains("spec.nodeSelector", "node labels of pool `{pool}` change"),
    *(
        Reaction(
            kind="SriovNetworkNodePolicy",
            change="changed",
            fields=f"spec.{field}",
            consequence="The operator restarts the device plugin with the new list of resources. "
            "Running pods keep their virtual functions.",
            source=_DEVICES,
        )
        for field in ("resourceName", "isRdma", "needVhostNet", "excludeTopology", "priority")
    ),
    _drains("spec", "{field} of the rails of pool `{pool}` {change}"),
    Reaction(
        kind="SriovNetworkNodePolicy",
        change="created",
        when=of_nvidia,
        condition="is about a card of NVIDIA",
        effect=Effect.REBOOTS,
        cause="pool `{pool}` gets rails",
        consequence=_RESET,
        source=_FIRMWARE,
        reach=reach.pool,
        pace=_POOL,
    ),
    Reaction(
        kind="SriovNetworkNodePolicy",
        change="deleted",
        effect=Effect.DRAINS,
        cause="pool `{pool}` loses rails",
        consequence=f"The operator resets the virtual functions. {_DRAINED}",
        source=_GENERIC,
        reach=reach.pool,
        pace=_POOL,
    ),
    *quiet(
        "SriovNetworkNodePolicy",
        _GENERIC,
        created="A card without virtual functions gets them; no node is drained.",
        changed="Nodes are set up from the `spec` only.",
    ),
)


def _rdma(change: str, fields: str, cause: str) -> Reaction:
    return Reaction(
        kind=_POOL,
        change=change,
        fields=fields,
        effect=Effect.REBOOTS,
        cause=cause,
        consequence=_KERNEL,
        source=_GENERIC,
        reach=reach.pool,
        pace=_POOL,
    )


_POOL_CONFIG = (
    _rdma("changed", "spec.rdmaMode", "RDMA mode of pool `{pool}` {change}"),
    _rdma("changed", "spec.nodeSelector", "node labels of pool `{pool}` change"),
    _rdma("created", "*", "pool `{pool}` gets rails"),
    _rdma("deleted", "*", "pool `{pool}` loses its RDMA mode"),
    Reaction(
        kind=_POOL,
        change="changed",
        consequence="It holds for the next drain: `maxUnavailable` nodes at a time.",
        source=f"{_OPERATOR}:controllers/drain_controller_helper.go@v1.6.0",
    ),
)

_NETWORK = (
    *quiet(
        "SriovNetwork",
        f"{_OPERATOR}:controllers/generic_network_controller.go@v1.6.0",
        created="The operator writes the network attachment into the team's namespace.",
        changed="The operator rewrites the network attachment. Running pods keep their interfaces.",
        deleted="The operator deletes the network attachment. Running pods keep their interfaces; "
        "new pods that name it stay in ContainerCreating.",
    ),
    *quiet(
        "NetworkAttachmentDefinition",
        "k8snetworkplumbingwg/multus-cni:pkg/multus/multus.go@v4.2.4",
        created="New pods can name it.",
        changed="Multus reads it for new pods. Running pods keep their interfaces.",
        deleted="Running pods keep their interfaces; new pods that name it stay in "
        "ContainerCreating.",
    ),
    *quiet(
        "IPPool",
        "Mellanox/nvidia-k8s-ipam:pkg/ipam-node/controllers/ippool/ippool.go@v0.4.0",
        created="New pods get addresses of it.",
        changed="Running pods keep their addresses, new pods get those of the new range.",
        deleted="Running pods keep their addresses, new pods get none.",
    ),
)

REACTIONS = (*_POLICY, *_POOL_CONFIG, *_NETWORK)
