"""Find shares of a node that do not divide into equal pods with whole cores."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.hardware import Hardware
from trainyard.model.ownership import Owners
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.quantity import counted
from trainyard.model.queue import Flavor
from trainyard.model.runtime import Runtime
from trainyard.rules._check import Check
from trainyard.rules._shares import flavors_in_parts, pools, runtimes

RULE = Rule(
    id="capacity/uneven-share",
    severity=Severity.ERROR,
    summary="A share of a node divides into equal pods that each have whole cores.",
    why="""
        Two pods that share a core both run slower than either would alone. A launcher that gets no
        part of the share starts nothing. A whole node as a share is cut into parts too: each of
        the two pods of an MPI job has half of its GPUs.
    """,
    fix="""
        Set `gpus` or `cores` to an even number: MPI needs at least 2, because its launcher is a pod
        too, unless the runtime has `maxNodes: 1`. Set `cpu` in `system` so that the other cores
        divide among the GPUs of a node.
    """,
)


_LISTED = 5
"""So many numbers are no longer listed one by one."""


def find(platform: Platform) -> Iterator[Diagnostic]:
    split: dict[Pointer, list[tuple[str, Flavor]]] = {}
    for tenant, flavor in flavors_in_parts(platform):
        quota, hardware = flavor.quota, flavor.pool.hardware
        owns = f"team {tenant.name} owns {quota.display(quota.nodes)} of pool `{quota.pool}`"
        if quota.unit is not hardware.parts:
            hint = f"Set `{hardware.parts}` or `nodes` instead of `{quota.unit}`."
            yield RULE.at(quota.place, f"{owns}, whose nodes {_other_parts(hardware)}", hint=hint)
        elif quota.own >= quota.per_node:
            message = f"{owns}, whose nodes have {quota.per_node}: this is not a share of a node"
            yield RULE.at(quota.place, message, hint=_whole_nodes(platform, flavor))
        else:
            listed = runtimes(platform, tenant, flavor.pool)
            yield from _uneven_pods(flavor, listed, owns)
            if any(_splits_cores(flavor, runtime) for runtime in listed):
                split.setdefault(hardware.edited("system", "cpu"), []).append((owns, flavor))
    for at, shares in split.items():
        yield _split_cores(at, shares)


def _other_parts(hardware: Hardware) -> str:
    """Return why nodes are not shared in the unit of a quota."""
    return "are shared by their GPUs" if hardware.gpus else "have no GPUs"


def _whole_nodes(platform: Platform, flavor: Flavor) -> str:
    """Return how to own whole nodes, in a pool in which no other team has a share."""
    quota = flavor.quota
    nodes = f"nodes: {ceil(quota.nodes)}"
    whole = [pool.name for pool, owners in pools(platform) if _holds_no_share(pool, owners, flavor)]
    if not whole:
        return f"Add a pool of whole nodes to the cluster, and set `{nodes}` of that pool."
    name = quota.pool if quota.pool in whole else whole[0]
    stated = f"`{quota.pool}: {{{quota.unit}: {quota.own}}}`"
    return f"Set `{name}: {{{nodes}}}` in place of {stated}."


def _holds_no_share(pool: Pool, owners: Owners, flavor: Flavor) -> bool:
    """Tell whether a pool of the cluster has nodes as large, and no share of another team."""
    same = pool.at.file == flavor.pool.at.file
    large = pool.hardware.units(flavor.quota.unit) == flavor.quota.per_node
    shares = (quota for _, quota in owners if quota.is_share)
    return same and large and all(share is flavor.quota for share in shares)


def _uneven_pods(flavor: Flavor, runtimes: list[Runtime], owns: str) -> Iterator[Diagnostic]:
    """Yield what a team's GPUs or cores leave over, once for all runtimes with as many pods."""
    by_pods: dict[int, list[Runtime]] = {}
    for runtime in runtimes:
        by_pods.setdefault(runtime.smallest_job, []).append(runtime)
    for pods, listed in sorted(by_pods.items()):
        if flavor.quota.own % pods:
            message = (
                f"{owns}: a job has at least {counted(pods, 'pod')}, which cannot have equal parts"
            )
            notes = [_launcher(runtime) for runtime in listed]
            yield RULE.at(flavor.quota.place, message, hint=_even(flavor, pods), notes=notes)
    parts = {flavor.quota.own // pods for pods in by_pods} - {0}
    yield from _uneven_loan(flavor, sorted(parts), owns)


def _uneven_loan(flavor: Flavor, parts: list[int], owns: str) -> Iterator[Diagnostic]:
    """Yield what borrowed GPUs or cores leave over, whatever size the pods have."""
    borrow = flavor.quota.units(flavor.quota.borrow)
    if parts and all(borrow % part for part in parts):
        sizes = " or ".join(map(str, parts))
        message = f"{owns} and borrows {borrow}, but a pod has {sizes} of them"
        yield RULE.at(flavor.quota.at / "borrow", message)


def _launcher(runtime: Runtime) -> Note:
    message = f"the launcher of runtime `{runtime.name}` is {runtime.launcher.name}"
    return Note(message, runtime.at / "launcher")


def _even(flavor: Flavor, pods: int) -> str:
    """Return which numbers of a node's GPUs or cores as many pods can divide."""
    quota = flavor.quota
    numbers = range(pods, quota.per_node, pods)
    choice = f"an even number below {quota.per_node}"
    if not numbers:
        choice = f"what {pods} pods can divide, which {quota.per_node} of a node are too few for"
    elif len(numbers) < _LISTED:
        *first, last = map(str, numbers)
        choice = f"{', '.join(first)} or {last}" if first else last
    one = "The pods are MPI's launcher and a node; `maxNodes: 1` in the runtime makes them one."
    return f"Set `{quota.unit}` to {choice}. {one}"


def _splits_cores(flavor: Flavor, runtime: Runtime) -> bool:
    """Return whether a pod of a share would have a part of a core."""
    quota, pods = flavor.quota, runtime.smallest_job
    cores = quota.nodes * flavor.pool.hardware.promised_cores / pods
    return quota.own % pods == 0 and cores.denominator > 1


def _split_cores(at: Pointer, shares: list[tuple[str, Flavor]]) -> Diagnostic:
    """Return the finding about hardware whose cores don't divide among its GPUs."""
    each = shares[0][1].pool.hardware
    message = (
        f"a `{each.name}` gives teams {counted(each.promised_cores, 'core')} for "
        f"{counted(each.gpus, 'GPU')}, so that pods would not have whole cores"
    )
    notes = [Note(owns, flavor.quota.place) for owns, flavor in shares]
    return RULE.at(at, message, hint=_divisible(each), notes=notes)


def _divisible(each: Hardware) -> str:
    """Return the next system share that leaves as many whole cores to each GPU."""
    cores = each.promised_cores // each.gpus
    if not cores:
        return f"Lower `system.cpu`, so that at least {counted(each.gpus, 'core')} are left."
    left = cores * each.gpus * each.threads // each.cores
    return (
        f"Set `system: {{cpu: {each.threads - left}}}`, which leaves "
        f"{counted(cores, 'core')} to each GPU."
    )


CHECK = Check(RULE, find, each=("runtimes",))
