"""Shares of a node: GPUs, cores and virtual functions that can't be divided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import gcd

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.quantity import counted
from trainyard.model.queue import Flavor
from trainyard.model.runtime import Runtime
from trainyard.model.team import Quota
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check
from trainyard.rules._walk import held, shares

UNEVEN_SHARE = Rule(
    id="capacity/uneven-share",
    severity=Severity.ERROR,
    summary="Shares of a node are equal pods with cores of their own.",
    why=(
        "The cores that two pods share are neither's: both run slower than either would alone. A launcher without a"
        " part of its own starts nothing."
    ),
    fix=(
        "Give 2, 4 or 6 of 8 GPUs, two at least where MPI runs: its launcher is a pod too. Set the system's `cpu` so"
        " that the rest can be divided; a whole node is `nodes: 1`, in a pool of whole nodes."
    ),
)
SHARES_BESIDE_WHOLE_NODES = Rule(
    id="capacity/shares-beside-whole-nodes",
    severity=Severity.ERROR,
    summary="A pool is promised in nodes or, as shares of nodes, in GPUs; not in both.",
    why=(
        "One share keeps whole-node jobs off its node, and shares may lie on as many nodes as they have pods. So a team"
        " keeps others from their own nodes within its quota, and nothing is reclaimed. The owners' jobs wait:"
        ' `allows to fit only <n> out of <n> pod(s). ...; excluded: resource "cpu": <n>` (seen with Kueue 0.19.2, where'
        " a share had taken the node)."
    ),
    fix=(
        "Give the shares nodes of their own: a hardware profile that `extends` this one, the label of its name on those"
        " nodes, a pool of it, and `gpus` of that pool in the teams' quota."
    ),
)
SHARE_WITHOUT_A_PLACE = Rule(
    id="capacity/share-without-a-place",
    severity=Severity.ERROR,
    summary="A team's share finds room on its pool, wherever the other shares lie.",
    why=(
        "Jobs come and go, and what stays may lie on every node: none then has as many free GPUs as one pod wants. The"
        " team's own GPUs are free, its job waits, `doesn't allow to fit any of 1 pod(s)` (seen with Kueue 0.19.2),"
        " and as nobody uses more than they own nothing is reclaimed."
    ),
    fix=(
        "Divide all shares of the pool into pods of the same size, such as 2 GPUs of 8; or add nodes to the pool until"
        " the largest pod has a place."
    ),
)
TOO_FEW_VIRTUAL_FUNCTIONS = Rule(
    id="fabric/too-few-virtual-functions",
    severity=Severity.ERROR,
    summary="A share of a node is worth a virtual function of each rail for every pod of a job.",
    why=(
        "Each pod takes one of each rail, and Kueue counts them like any resource: no job of the team is ever admitted,"
        " `insufficient quota for <resource> ... > maximum capacity`."
    ),
    fix="Give a port as many `virtualFunctions` as the node has GPUs.",
)


def uneven_share(platform: Platform) -> Iterator[Diagnostic]:
    """Look at each share by itself, and at the pods of each runtime that could use it."""
    for tenant, flavor in _shares(platform):
        quota, hardware = flavor.quota, flavor.pool.hardware
        owns = f"team {tenant.name} owns {counted(quota.own, 'GPU')} of pool `{quota.pool}`"
        if not hardware.gpus:
            yield UNEVEN_SHARE.at(quota.at / "gpus", f"{owns}, whose nodes have none")
        elif quota.own >= hardware.gpus:
            yield UNEVEN_SHARE.at(quota.at / "gpus", f"{owns}, whose nodes have {hardware.gpus}: that is no share")
        else:
            yield from _uneven_pods(flavor, _runtimes(platform, tenant, flavor.pool), owns)


def shares_beside_whole_nodes(platform: Platform) -> Iterator[Diagnostic]:
    """Find pools with quotas in nodes and in GPUs; the finding stands at the pool and names the shares."""
    for pool, owners in _pools(platform):
        parts = [(tenant, quota) for tenant, quota in owners if quota.is_share]
        if parts and len(parts) < len(owners):
            whole = [tenant.name for tenant, quota in owners if not quota.is_share]
            message = f"teams own GPUs of pool `{pool.name}`, of which {', '.join(whole)} {_has(whole)} whole nodes"
            yield SHARES_BESIDE_WHOLE_NODES.at(pool.at.key(), message, notes=_owns(parts))


def share_without_a_place(platform: Platform) -> Iterator[Diagnostic]:
    """Have the other shares of a pool lie as badly as they can, and look for room for a team's job."""
    for pool, owners in _pools(platform):
        sizes = {tenant.name: _sizes(platform, tenant, quota, pool) for tenant, quota in owners if quota.is_share}
        unit = gcd(*(size for each in sizes.values() for size, _ in each)) or 1
        everything = sum(quota.own for _, quota in owners)
        for tenant, quota in owners:
            for size, pods in sizes.get(tenant.name, ()):
                others = everything - quota.own
                room = least_room(pool.promised, pool.hardware.gpus // unit, size // unit, others // unit)
                if room < pods:
                    message = (
                        f"team {tenant.name} needs room for {counted(pods, 'pod')} of {counted(size, 'GPU')} in pool"
                        f" `{pool.name}`, and the other shares, {counted(others, 'GPU')} on"
                        f" {counted(pool.promised, 'node')}, can leave room for {room}"
                    )
                    yield SHARE_WITHOUT_A_PLACE.at(quota.at / "gpus", message, notes=_owns(owners))


def least_room(nodes: int, gpus: int, size: int, others: int) -> int:
    """Return how many pods of a size surely find room beside others that may lie anywhere; all in the same unit.

    The first pod that a node has no room for costs the others little: what would not have fitted, and one more.
    """
    first = gpus % size + 1
    spoiled = min(nodes, others // first)
    rest = (others - spoiled * first) // size
    return max(0, nodes * (gpus // size) - spoiled - rest)


def _pools(platform: Platform) -> Iterator[tuple[Pool, list[tuple[Tenant, Quota]]]]:
    for site in platform.sites:
        owners = shares(site)
        yield from ((pool, owners[pool.name]) for pool in site.cluster.pools)


def _sizes(platform: Platform, tenant: Tenant, quota: Quota, pool: Pool) -> list[tuple[int, int]]:
    """Return GPUs of a pod, and pods of a job, for each way that a team's runtimes divide its share."""
    pods = {each.launcher.smallest_job for each in _runtimes(platform, tenant, pool)}
    return [(quota.own // each, each) for each in sorted(pods) if quota.own % each == 0]


def _owns(owners: Iterable[tuple[Tenant, Quota]]) -> list[Note]:
    return [
        Note(f"team {tenant.name} owns {quota.told(quota.own)}", quota.place)
        for tenant, quota in owners
        if quota.is_share
    ]


def _has(teams: list[str]) -> str:
    return "has" if len(teams) == 1 else "have"


def _shares(platform: Platform) -> Iterator[tuple[Tenant, Flavor]]:
    for site in platform.sites:
        for tenant in site.tenants:
            yield from ((tenant, flavor) for flavor in held(tenant) if flavor.quota.is_share)


def _runtimes(platform: Platform, tenant: Tenant, pool: Pool) -> list[Runtime]:
    """Return the team's runtimes that run on the nodes of a pool."""
    listed = (each for each in platform.runtimes if each.name in tenant.team.runtimes)
    return [each for each in listed if pool.hardware.name in each.hardware]


def _uneven_pods(flavor: Flavor, runtimes: list[Runtime], owns: str) -> Iterator[Diagnostic]:
    quota, at = flavor.quota, flavor.quota.at
    for runtime in runtimes:
        if problem := _problem(flavor, runtime.launcher.smallest_job):
            notes = [Note(f"runtime `{runtime.name}` is started by {runtime.launcher.name}", runtime.at / "launcher")]
            yield UNEVEN_SHARE.at(at / "gpus", f"{owns}: {problem}", notes=notes)
    parts = {quota.own // runtime.launcher.smallest_job for runtime in runtimes} - {0}
    if parts and all(quota.borrowed % part for part in parts):
        pods = " or ".join(map(str, sorted(parts)))
        yield UNEVEN_SHARE.at(at / "borrow", f"{owns} and borrows {quota.borrowed}, but a pod has {pods} of them")


def _problem(flavor: Flavor, pods: int) -> str:
    """Return why a share is not that many pods; empty when it is."""
    own, hardware = flavor.quota.own, flavor.pool.hardware
    part, rest = divmod(own, pods)
    cores = Fraction(hardware.promised_cores * own, hardware.gpus * pods)
    if rest:
        return f"a job has {counted(pods, 'pod')} at least, which can't have equal parts"
    if cores.denominator > 1:
        gives = f"a node gives {counted(hardware.promised_cores, 'core')} for {counted(hardware.gpus, 'GPU')}"
        return f"a pod of {counted(part, 'GPU')} would not have whole cores, as {gives}"
    return ""


def too_few_virtual_functions(platform: Platform) -> Iterator[Diagnostic]:
    """Compare the virtual functions that a share is worth with the pods of each runtime's smallest job."""
    for tenant, flavor in _shares(platform):
        quota, functions = flavor.quota, flavor.pool.hardware.virtual_functions
        if not flavor.pool.rails:
            continue
        for runtime in _runtimes(platform, tenant, flavor.pool):
            pods, worth = runtime.launcher.smallest_job, int(quota.nodes * functions)
            if runtime.uses_rdma and quota.own % pods == 0 and worth < pods:
                message = (
                    f"a share of {counted(quota.own, 'GPU')} is worth {worth} of the"
                    f" {counted(functions, 'virtual function')} of a rail, and the smallest job with runtime"
                    f" `{runtime.name}` takes {pods}"
                )
                at = flavor.pool.hardware.at / "nic" / "virtualFunctions"
                yield TOO_FEW_VIRTUAL_FUNCTIONS.at(
                    at, message, notes=[Note(f"the share of team {tenant.name}", quota.at / "gpus")]
                )


CHECKS = (
    Check(UNEVEN_SHARE, uneven_share, each=("runtimes",)),
    Check(SHARES_BESIDE_WHOLE_NODES, shares_beside_whole_nodes),
    Check(SHARE_WITHOUT_A_PLACE, share_without_a_place, each=("runtimes",)),
    Check(TOO_FEW_VIRTUAL_FUNCTIONS, too_few_virtual_functions),
)
