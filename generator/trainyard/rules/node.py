"""Nodes: what selects them, what the kubelet keeps, how ranks share their cores."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, permutations

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted, format_bytes, format_cpu
from trainyard.model.runtime import Runtime
from trainyard.rules._check import Check
from trainyard.rules._walk import hardware

_GIBIBYTE = 1 << 30

OVERLAPPING_POOLS = Rule(
    id="node/overlapping-pools",
    severity=Severity.ERROR,
    summary="No node is selected by two pools of a cluster.",
    why=(
        "Kueue counts the nodes once for each flavor and admits twice what is there; a node in two SR-IOV pools is an"
        " error of the operator, which then configures neither."
    ),
    fix="Give each hardware profile labels of its own, e.g. the GPU's product and one that tells the pools apart.",
)
KUBELET_SHARE_EXCEEDS_SYSTEM = Rule(
    id="node/kubelet-share-exceeds-system",
    severity=Severity.ERROR,
    summary="What a node does not offer to pods is part of the system's share.",
    why=(
        "The node offers less than quota was computed from: no pod of a whole node fits, and its gang stays Pending"
        ' (`excluded: resource "cpu"`, seen with Kueue 0.19.2). Besides `kubelet`, kubelet holds back a tenth of'
        " `ephemeralStorage` and 100Mi of memory, below which it evicts pods, and the kernel keeps 1/64 of the memory."
    ),
    fix="Raise `system`, or lower `kubelet`.",
)
NO_GPU_TAINT = Rule(
    id="node/no-gpu-taint",
    severity=Severity.WARNING,
    summary="Nodes with GPUs have a taint.",
    why=(
        "Pods that are not queued land on them and take the cpu and memory that quota has promised: a job without a"
        " queue starts at once and bypasses its quota (seen with Kueue 0.19.2)."
    ),
    fix="Taint the nodes and name it, e.g. `taint: nvidia.com/gpu`.",
)
THREADS_BELOW_CORES = Rule(
    id="node/threads-below-cores",
    severity=Severity.ERROR,
    summary="A node has one hardware thread a core, or a whole number of them.",
    why="Kubernetes counts threads as cpu: quota, and the cores that each rank is bound to, are computed from both.",
    fix="Take both numbers from `lscpu`: CPU(s) is threads, and cores a socket times sockets is cores.",
)
FEWER_CORES_THAN_RANKS = Rule(
    id="node/fewer-cores-than-ranks",
    severity=Severity.ERROR,
    summary="Each rank of a runtime that binds its ranks gets at least one core.",
    why=(
        "mpirun refuses to start: `A request was made to bind to that would result in binding more processes than cpus`"
        " (seen with Open MPI 4.1.4)."
    ),
    fix="Lower the system's cpu, or set `binding: none` in the runtime.",
)
ODD_CORE_SPLIT = Rule(
    id="node/odd-core-split",
    severity=Severity.WARNING,
    summary="The cores that a node gives to a job are divided evenly among its ranks, each on one NUMA node.",
    why=(
        "Each rank is bound to whole cores, so the rest is never used: data loaders wait while cores idle. A rank on"
        " two NUMA nodes reaches a part of its memory through the other socket, and its GPU and rail from the wrong"
        " side; the other ranks wait for it. kubelet keeps its own share on the first NUMA node, and divides a"
        " job's cores evenly only if every NUMA node has that many left."
    ),
    fix=(
        "Set the system's cpu, or the runtime's `ranks`, so that nothing is left over, or `binding: none`. Lower the"
        " kubelet's cpu to the system's cpu divided by the NUMA nodes, or less."
    ),
)


def overlapping_pools(platform: Platform) -> Iterator[Diagnostic]:
    """Find pools whose labels are all on the nodes of another; two with the same labels are one finding."""
    for site in platform.sites:
        for wide, narrow in permutations(site.cluster.pools, 2):
            one, two = wide.hardware.labels.items(), narrow.hardware.labels.items()
            if one < two or (one == two and wide.name < narrow.name):
                labels = ", ".join(f"{key}={value}" for key, value in wide.hardware.labels.items())
                message = f"pool `{wide.name}` selects the nodes of pool `{narrow.name}` too: {labels}"
                notes = [Note(f"hardware of `{each.name}`", each.hardware.stated("labels")) for each in (wide, narrow)]
                yield OVERLAPPING_POOLS.at(wide.at.key(), message, notes=notes)


def kubelet_share_exceeds_system(platform: Platform) -> Iterator[Diagnostic]:
    """Compare each part of what pods are not offered with the system's share."""
    for each in hardware(platform):
        withheld, system = each.withheld, each.system
        parts = (
            ("cpu", withheld.cpu, system.cpu, format_cpu),
            ("memory", withheld.memory, system.memory, format_bytes),
            ("ephemeralStorage", withheld.ephemeral_storage, system.ephemeral_storage, format_bytes),
        )
        for field, part, whole, form in parts:
            if part > whole:
                told = format_cpu(part) if field == "cpu" else f"{-(-part // _GIBIBYTE)}Gi"
                message = (
                    f"a `{each.name}` offers pods {told} less {field} than it has; its system share is {form(whole)}"
                )
                notes = [
                    Note(f"how much {field} it has", each.stated(field)),
                    Note("what kubelet reserves", each.stated("kubelet", field)),
                ]
                yield KUBELET_SHARE_EXCEEDS_SYSTEM.at(each.at / "system" / field, message, notes=notes)


def no_gpu_taint(platform: Platform) -> Iterator[Diagnostic]:
    """Find GPU hardware without a taint."""
    for each in hardware(platform):
        if each.gpu and not each.taint:
            yield NO_GPU_TAINT.at(each.at / "taint", f"a `{each.name}` has {counted(each.gpus, 'GPU')} and no taint")


def threads_below_cores(platform: Platform) -> Iterator[Diagnostic]:
    """Find nodes whose threads are no multiple of their cores."""
    for each in hardware(platform):
        if each.threads % each.cores:
            message = f"a `{each.name}` has {counted(each.cores, 'core')} and {counted(each.threads, 'thread')}"
            yield THREADS_BELOW_CORES.at(each.at / "cpu" / "threads", message)


def fewer_cores_than_ranks(platform: Platform) -> Iterator[Diagnostic]:
    """Compare the cores that a job gets with its ranks, where the runtime leaves their number open."""
    for runtime, each in _bound(platform):
        ranks = each.gpus or 1
        if not runtime.ranks and each.promised_cores < ranks:
            what = f"{counted(ranks, 'rank')} to the {counted(each.promised_cores, 'core')} of a `{each.name}`"
            message = f"runtime `{runtime.name}` binds {what}"
            notes = [Note("the system keeps the others", each.stated("system", "cpu"))]
            yield FEWER_CORES_THAN_RANKS.at(runtime.at / "binding", message, notes=notes)


def odd_core_split(platform: Platform) -> Iterator[Diagnostic]:
    """Find whole nodes whose cores leave a rest when each rank has its share, or whose ranks lie on two NUMA nodes."""
    for runtime, each in _bound(platform):
        ranks = runtime.ranks or each.gpus or 1
        share, rest = divmod(each.promised_cores, ranks)
        binds = f"runtime `{runtime.name}` binds each of {counted(ranks, 'rank')} to {share} of the"
        binds += f" {counted(each.promised_cores, 'core')} of a `{each.name}`"
        if share and rest:
            notes = [Note("what the system keeps", each.stated("system", "cpu"))]
            yield ODD_CORE_SPLIT.at(runtime.at / "binding", f"{binds}, which leaves {rest} over", notes=notes)
        elif share and ranks >= each.numa_nodes and any(end % share for end in accumulate(each.cores_by_numa)):
            told = " and ".join(f"{cores} on NUMA node {node}" for node, cores in enumerate(each.cores_by_numa))
            message = f"{binds}, and some to two NUMA nodes: kubelet gives a job {told}"
            notes = [Note("what the kubelet keeps on NUMA node 0", each.stated("kubelet", "cpu"))]
            yield ODD_CORE_SPLIT.at(runtime.at / "binding", message, notes=notes)


def _bound(platform: Platform) -> Iterator[tuple[Runtime, Hardware]]:
    """Yield each runtime that binds its ranks, with the hardware that it runs on."""
    for runtime in platform.runtimes:
        if runtime.binds:
            yield from ((runtime, each) for each in hardware(platform) if each.name in runtime.hardware)


CHECKS = (
    Check(OVERLAPPING_POOLS, overlapping_pools),
    Check(KUBELET_SHARE_EXCEEDS_SYSTEM, kubelet_share_exceeds_system),
    Check(NO_GPU_TAINT, no_gpu_taint),
    Check(THREADS_BELOW_CORES, threads_below_cores),
    Check(FEWER_CORES_THAN_RANKS, fewer_cores_than_ranks),
    Check(ODD_CORE_SPLIT, odd_core_split),
)
