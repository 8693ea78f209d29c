"""The compute ports of a node: one for each GPU, all on one fabric, of a card that the SR-IOV operator knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.fabric import Fabric
from trainyard.model.hardware import Hardware, Nic
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.quantity import counted, format_nodes
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check
from trainyard.rules._walk import hardware, held

_NVIDIA = "15b3"
_PORTS = frozenset({"1013", "1015", "1017", "1019", "101b", "101d", "101f", "1021", "1023", "a2d6", "a2dc"})
_FUNCTIONS = frozenset({"1014", "1016", "1018", "101a", "101c", "101e"})
"""Ports and their VFs (k8snetworkplumbingwg/sriov-network-operator:.../templates/configmap.yaml@v1.6.0)."""

_ETHERNET = {"1015": "ConnectX-4 Lx", "101d": "ConnectX-6 Dx", "101f": "ConnectX-6 Lx"}

RAIL_IS_NO_RAIL = Rule(
    id="fabric/rail-is-no-rail",
    severity=Severity.ERROR,
    summary="The rails of a node are ports of their own, one beside each GPU.",
    why=(
        "A rank would talk over another GPU's port, or two SR-IOV policies would take one port, which the operator's"
        " webhook refuses; a pool on a fabric without rails has no way onto it at all."
    ),
    fix="Correct `nics` from what `nvidia-smi topo -m` and `lspci` say on such a node.",
)
_UNLIKE = (
    "If the node really has these, Trainyard does not support it on a fabric: give the ports another `role` than"
    " `rail`, and remove the pool's `fabric`; jobs then use sockets. If the profile is wrong, correct `nics` from what"
    " `nvidia-smi topo -m` and `lspci` say on such a node."
)
RAILS_WITHOUT_FABRIC = Rule(
    id="fabric/rails-without-fabric",
    severity=Severity.ERROR,
    summary="A pool whose nodes have rails names the fabric that they are plugged into.",
    why=(
        "Without a fabric no virtual function is made and no network attached, but quota and runtimes count them:"
        " Kueue admits the jobs and their pods stay Pending (Insufficient openshift.io/...)."
    ),
    fix="Give the pool its `fabric`, or use a hardware profile whose ports are not rails.",
)

GPU_JOBS_WITHOUT_RAILS = Rule(
    id="fabric/gpu-jobs-without-rails",
    severity=Severity.WARNING,
    summary="Jobs that may take several nodes with GPUs have rails between them.",
    why=(
        "Ranks on different nodes talk by TCP over the pod network, at a fraction of the speed of RDMA: such jobs wait"
        " for the network while their GPUs idle, and no message says so."
    ),
    fix=(
        "Put the pool on a `fabric` with hardware that has rails; or set `largestJob: {nodes: 1}` and list a torchrun"
        " runtime; or waive this with the reason. `fabric: tcp` in a runtime states that sockets are meant."
    ),
)
UNSUPPORTED_NIC = Rule(
    id="fabric/unsupported-nic",
    severity=Severity.ERROR,
    summary="The ports of a pool on a fabric are those of a card that the SR-IOV operator knows, driven by mlx5.",
    why=(
        "The operator's webhook refuses the policy (`vendor/device <vendor>/<device> is not supported`,"
        " openshift/sriov-network-operator#552), so the unit never syncs. For other makers' cards neither the"
        " networks nor the runtimes' settings were written: ranks may fall back to TCP in silence."
    ),
    fix="Take the vendor and device of the port from `lspci -nn` on such a node.",
)
ODD_MTU = Rule(
    id="fabric/odd-mtu",
    severity=Severity.ERROR,
    summary="The MTU of a fabric is one that its link has: 2044 to 4092 on infiniband, 1500 to 9216 on roce.",
    why="The SR-IOV operator's daemon can't set it: the state of every node stays Failed, and no VF is made.",
    fix="Write what the switches are set to, or nothing to leave it to the driver.",
)


def rail_is_no_rail(platform: Platform) -> Iterator[Diagnostic]:
    """Check the ports of each hardware profile, then that pools on a fabric have some."""
    for each in hardware(platform):
        yield from _twice(each, [(nic.pci, nic) for nic in each.nics], "PCI address {}")
        if each.gpu and each.rails:
            yield from _beside_gpus(each, each.gpu.count)
    for site in platform.sites:
        for pool in site.cluster.pools:
            if pool.fabric and not pool.hardware.rails:
                message = (
                    f"pool `{pool.name}` is on fabric `{pool.fabric.name}`, but a `{pool.hardware.name}` has no rails"
                )
                notes = [Note("no port here has the role `rail`", pool.hardware.at / "nics")]
                yield RAIL_IS_NO_RAIL.at(pool.at / "fabric", message, notes=notes)


def _twice(each: Hardware, ports: list[tuple[str, Nic]], what: str) -> Iterator[Diagnostic]:
    known: dict[str, Pointer] = {}
    for value, nic in ports:
        first = known.setdefault(value, nic.at)
        if first != nic.at:
            message = f"two ports of a `{each.name}` have {what.format(value)}"
            yield RAIL_IS_NO_RAIL.at(nic.at, message, notes=[Note("the other", first)])


def _beside_gpus(each: Hardware, gpus: int) -> Iterator[Diagnostic]:
    for nic in each.rails:
        if not 0 <= nic.gpu < gpus:
            stands = f"stands beside GPU {nic.gpu}" if nic.gpu >= 0 else "does not say its GPU"
            yield RAIL_IS_NO_RAIL.at(
                nic.at / "gpu", f"rail {nic.pci} {stands}; a `{each.name}` has GPUs 0 to {gpus - 1}"
            )
    yield from _twice(each, [(str(nic.gpu), nic) for nic in each.rails if nic.gpu >= 0], "GPU {} beside them")
    if len(each.rails) != gpus:
        has = f"a `{each.name}` has {counted(len(each.rails), 'rail')} and {counted(gpus, 'GPU')}"
        yield RAIL_IS_NO_RAIL.at(each.at / "nics", f"{has}; a fabric needs one rail for each GPU", hint=_UNLIKE)


def rails_without_fabric(platform: Platform) -> Iterator[Diagnostic]:
    """Find pools of nodes with rails that name no fabric."""
    for site in platform.sites:
        for pool in site.cluster.pools:
            if pool.hardware.rails and pool.fabric is None:
                rails = counted(len(pool.hardware.rails), "rail")
                message = f"pool `{pool.name}` names no fabric, but a `{pool.hardware.name}` has {rails}"
                yield RAILS_WITHOUT_FABRIC.at(pool.at.key(), message)


def gpu_jobs_without_rails(platform: Platform) -> Iterator[Diagnostic]:
    """Find pools of GPUs without ports for RDMA whose jobs take several nodes.

    A runtime with `fabric: tcp` or `isolated` wants no rails, so its jobs are no finding; one with `gpudirect` or
    `rdma` is refused elsewhere.
    """
    for site in platform.sites:
        for pool in site.cluster.pools:
            if pool.hardware.gpus and not pool.hardware.rails and pool.fabric is None:
                jobs = [job for tenant in site.tenants for job in _jobs_over_tcp(tenant, pool)]
                if jobs:
                    message = f"jobs of several nodes may run on pool `{pool.name}`, whose nodes have GPUs and no rails"
                    yield GPU_JOBS_WITHOUT_RAILS.at(pool.at.key(), message, notes=jobs)


def _jobs_over_tcp(tenant: Tenant, pool: Pool) -> Iterator[Note]:
    """Yield each runtime with which a team may start a job on several nodes of a pool, once."""
    reach = max((each.quota.reach for each in held(tenant) if each.pool == pool), default=Fraction(0))
    launches: dict[str, Fraction] = {}
    for grant in (grant for space in tenant.spaces for grant in space.grants):
        runtime = grant.launch.runtime
        nodes = min(grant.nodes * grant.launch.part, reach)
        if nodes > 1 and not runtime.fabric and pool.hardware.name in runtime.hardware:
            launches[runtime.name] = max(nodes, launches.get(runtime.name, nodes))
    for name, nodes in sorted(launches.items()):
        what = format_nodes(nodes, pool.hardware.gpus)
        yield Note(f"team {tenant.name} may take {what} with runtime `{name}`", tenant.team.at / "runtimes")


def unsupported_nic(platform: Platform) -> Iterator[Diagnostic]:
    """Look up the ids of the ports of each pool on a fabric."""
    for site in platform.sites:
        for rail in (pool.rails[0] for pool in site.cluster.pools if pool.rails):
            each, fabric = rail.pool.hardware, rail.fabric
            if problem := _nic_problem(each, fabric, site.cluster.external):
                field = "vendor" if each.nic_vendor != _NVIDIA else "device"
                notes = [Note(f"pool `{rail.pool.name}` is on fabric `{fabric.name}`", rail.pool.at / "fabric")]
                message, hint = problem
                yield UNSUPPORTED_NIC.at(each.at / "nic" / field, message, hint=hint, notes=notes)


def _nic_problem(each: Hardware, fabric: Fabric, external: Mapping[str, str]) -> tuple[str, str] | None:
    """Return what is wrong with the ports, and what puts it right; no hint where the ids themselves are wrong."""
    ids = f"{each.nic_vendor}:{each.nic_device}"
    if each.nic_vendor != _NVIDIA:
        hint = "Give these ports another `role` than `rail` and remove the pool's `fabric`: jobs then use sockets."
        return f"the rails of a `{each.name}` are ports {ids}, but jobs use NVIDIA's, {_NVIDIA}", hint
    if each.nic_device in _FUNCTIONS:
        return f"{ids} is the id of virtual functions, not of the rails of a `{each.name}`", ""
    if each.nic_device in _ETHERNET and fabric.link.name == "infiniband":
        hint = f"Set `link: roce` on fabric `{fabric.name}`, or correct the device."
        return f"{ids} is {_ETHERNET[each.nic_device]}, which has no InfiniBand", hint
    if each.nic_device not in _PORTS and f"Nic/{ids}" not in external:
        hint = f"If its owner added the port to the operator's list, declare `Nic/{ids}` with that owner in `external`."
        return f"the SR-IOV operator does not know {ids}, and `Nic/{ids}` is not declared in `external`", hint
    return None


def odd_mtu(platform: Platform) -> Iterator[Diagnostic]:
    """Compare the MTU of each fabric with those of its link."""
    for fabric in (fabric for site in platform.sites for fabric in site.cluster.fabrics):
        least, most = fabric.link.mtus
        if fabric.mtu and not least <= fabric.mtu <= most:
            message = f"fabric `{fabric.name}` has an MTU of {fabric.mtu}; {fabric.link.name} takes {least} to {most}"
            yield ODD_MTU.at(fabric.at / "mtu", message)


CHECKS = (
    Check(RAIL_IS_NO_RAIL, rail_is_no_rail),
    Check(RAILS_WITHOUT_FABRIC, rails_without_fabric),
    Check(GPU_JOBS_WITHOUT_RAILS, gpu_jobs_without_rails),
    Check(UNSUPPORTED_NIC, unsupported_nic),
    Check(ODD_MTU, odd_mtu),
)
