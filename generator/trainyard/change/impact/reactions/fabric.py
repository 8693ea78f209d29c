"""Reactions of the SR-IOV operator and of what attaches pods to a fabric."""

from __future__ import annotations

from functools import partial

from trainyard.change.impact import reach
from trainyard.change.impact.reaction import Effect, Reaction, quiet
from trainyard.change.impact.reactions.conditions import (
    becomes,
    is_set,
    moves,
    moves_of_nvidia,
    of_nvidia,
)

_OPERATOR = "k8snetworkplumbingwg/sriov-network-operator"
_FIRMWARE = f"{_OPERATOR}:pkg/plugins/mellanox/mellanox_plugin.go@v1.6.0"
_GENERIC = f"{_OPERATOR}:pkg/plugins/generic/generic_plugin.go@v1.6.0"
_NEEDED = f"{_OPERATOR}:api/v1/helper.go@v1.6.0"
_DEVICES = f"{_OPERATOR}:controllers/sriovnetworknodepolicy_controller.go@v1.6.0"
_EVICTED = "A job with a pod there fails, and starts again only if its runtime has `restarts`."
_DRAINED = f"The operator empties each node of pods with virtual functions. {_EVICTED}"
_RESET = f"The operator empties each node, writes the cards' firmware and reboots. {_EVICTED}"
_KERNEL = f"The operator empties each node, changes a kernel argument and reboots. {_EVICTED}"
_PLUGIN = (
    "The operator restarts the device plugin with the new list of resources. Running pods keep "
    "their virtual functions."
)
_POOL = "SriovNetworkPoolConfig"


_DRIVER = (
    "kubernetes-sigs/dra-driver-nvidia-gpu:cmd/compute-domain-controller/computedomain.go@95932046"
)
_DOMAIN = (
    Reaction(
        kind="ComputeDomain",
        change="deleted",
        effect=Effect.EVICTS,
        cause="ComputeDomain `{name}` is deleted",
        consequence="NVIDIA's driver ends its daemons: ranks lose the memory of GPUs on other "
        f"nodes. {_EVICTED}",
        source=_DRIVER,
        reach=reach.team,
    ),
    *quiet(
        "ComputeDomain",
        _DRIVER,
        created="NVIDIA's driver writes the template of claims. New pods can claim it.",
        changed="Its spec is immutable; labels have no effect.",
    ),
)

_changed = partial(Reaction, kind="SriovNetworkNodePolicy", change="changed")
_emptied = partial(Reaction, kind="SriovNetworkNodePolicy", reach=reach.pool, pace=_POOL)
_drained = partial(
    _emptied, change="changed", effect=Effect.DRAINS, consequence=_DRAINED, source=_NEEDED
)
_reset = partial(
    _emptied,
    when=of_nvidia,
    condition="is about a card of NVIDIA",
    effect=Effect.REBOOTS,
    consequence=_RESET,
    source=_FIRMWARE,
)
_VFS = "virtual functions of the rails of pool `{pool}` {change}"
_CARDS = "cards of the rails of pool `{pool}` change"
_LABELS = "node labels of pool `{pool}` change"

_POLICY = (
    _drained(
        fields="spec.mtu",
        when=is_set,
        condition="gets a value",
        cause="MTU of the rails of pool `{pool}` {change}",
    ),
    _changed(
        fields="spec.mtu",
        consequence="Without a value the ports keep the MTU that they have.",
        source=_NEEDED,
    ),
    _reset(change="changed", fields="spec.numVfs", cause=_VFS),
    _drained(fields="spec.numVfs", cause=_VFS),
    _reset(
        change="changed",
        fields="spec.linkType",
        cause="link of the rails of pool `{pool}` {change}",
    ),
    _emptied(
        change="changed",
        fields="spec.deviceType",
        when=becomes("vfio-pci"),
        condition="becomes `vfio-pci`",
        effect=Effect.REBOOTS,
        cause="driver of the rails of pool `{pool}` {change}",
        consequence=_KERNEL,
        source=_GENERIC,
    ),
    _drained(fields="spec.deviceType", cause="driver of the rails of pool `{pool}` {change}"),
    _reset(change="changed", fields="spec.nicSelector", cause=_CARDS),
    _drained(fields="spec.nicSelector", cause=_CARDS),
    _reset(change="changed", fields="spec.nodeSelector", cause=_LABELS),
    _drained(fields="spec.nodeSelector", cause=_LABELS),
    *(
        _changed(fields=f"spec.{field}", consequence=_PLUGIN, source=_DEVICES)
        for field in ("resourceName", "isRdma", "needVhostNet", "excludeTopology", "priority")
    ),
    _drained(fields="spec", cause="{field} of the rails of pool `{pool}` {change}"),
    _reset(
        change="created",
        when=moves_of_nvidia,
        condition="is about a card of NVIDIA, and was in another namespace",
        cause="rails of pool `{pool}` move to another operator",
    ),
    _reset(change="created", cause="pool `{pool}` gets rails"),
    _emptied(
        change="deleted",
        when=moves,
        condition="is in another namespace then",
        effect=Effect.DRAINS,
        cause="rails of pool `{pool}` move to another operator",
        consequence=f"The operator resets the virtual functions. {_DRAINED}",
        source=_GENERIC,
    ),
    _emptied(
        change="deleted",
        effect=Effect.DRAINS,
        cause="pool `{pool}` loses rails",
        consequence=f"The operator resets the virtual functions. {_DRAINED}",
        source=_GENERIC,
    ),
    *quiet(
        "SriovNetworkNodePolicy",
        _GENERIC,
        created="A card without virtual functions gets them; no node is drained.",
        changed="Nodes are set up from the `spec` only.",
    ),
)


_rdma = partial(
    Reaction,
    kind=_POOL,
    effect=Effect.REBOOTS,
    consequence=_KERNEL,
    source=_GENERIC,
    reach=reach.pool,
    pace=_POOL,
)
_POOL_CONFIG = (
    _rdma(change="changed", fields="spec.rdmaMode", cause="RDMA mode of pool `{pool}` {change}"),
    _rdma(change="changed", fields="spec.nodeSelector", cause=_LABELS),
    _rdma(
        change="created",
        when=moves,
        condition="was in another namespace",
        cause="RDMA mode of pool `{pool}` moves to another operator",
    ),
    _rdma(change="created", cause="pool `{pool}` gets rails"),
    _rdma(
        change="deleted",
        when=moves,
        condition="is in another namespace then",
        cause="RDMA mode of pool `{pool}` moves to another operator",
    ),
    _rdma(change="deleted", cause="pool `{pool}` loses its RDMA mode"),
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

REACTIONS = (*_DOMAIN, *_POLICY, *_POOL_CONFIG, *_NETWORK)
