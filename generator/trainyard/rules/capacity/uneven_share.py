"""Find shares of a node that do not divide into equal pods with whole cores."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
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
        Set `gpus` to 2, 4 or 6 of 8, or `cores` to an even number. MPI needs at least 2, because
        its launcher is a pod too, unless the runtime has `maxNodes: 1`. Set `cpu` in `system` so
        that the other cores divide evenly.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
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
            yield from _uneven_pods(flavor, runtimes(platform, tenant, flavor.pool), owns)


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
    quota = flavor.quota
    for runtime in runtimes:
        if problem := _problem(flavor, runtime.smallest_job):
            launcher = f"the launcher of runtime `{runtime.name}` is {runtime.launcher.name}"
            notes = [Note(launcher, runtime.at / "launcher")]
            yield RULE.at(quota.place, f"{owns}: {problem}", notes=notes)
    parts = {quota.own // runtime.smallest_job for runtime in runtimes} - {0}
    borrow = quota.units(quota.borrow)
    if parts and all(borrow % part for part in parts):
        pods = " or ".join(map(str, sorted(parts)))
        message = f"{owns} and borrows {borrow}, but a pod has {pods} of them"
        yield RULE.at(quota.at / "borrow", message)


def _problem(flavor: Flavor, pods: int) -> str:
    """Return why a share does not divide into that many pods; empty if it does."""
    quota, hardware = flavor.quota, flavor.pool.hardware
    part, rest = divmod(quota.own, pods)
    cores = quota.nodes * hardware.promised_cores / pods
    if rest:
        return f"a job has at least {counted(pods, 'pod')}, which cannot have equal parts"
    if cores.denominator > 1:
        gives = (
            f"a node gives {counted(hardware.promised_cores, 'core')} for "
            f"{quota.unit.counted(quota.per_node)}"
        )
        return f"a pod of {quota.unit.counted(part)} would not have whole cores, as {gives}"
    return ""


CHECK = Check(RULE, find, each=("runtimes",))
