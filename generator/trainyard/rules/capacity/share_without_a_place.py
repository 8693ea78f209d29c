"""Place the other shares of a pool in the worst way, and look for room for a team's job."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.ownership import Owners
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.quantity import counted
from trainyard.model.team import Quota
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check
from trainyard.rules._shares import owner_notes, pools, runtimes

RULE = Rule(
    id="capacity/share-without-a-place",
    severity=Severity.ERROR,
    summary="A team's share fits on its pool, wherever the other shares are placed.",
    why="""
        The team's job waits although its own part is free, `doesn't allow to fit any of 1 pod(s)`
        (seen with Kueue 0.19.2): pods of other jobs may remain on every node, so that no node has
        as many free GPUs, or cores, as one pod needs. Nothing is reclaimed, because no team uses
        more than it owns. Without a fabric the job is admitted, and its pods stay Pending.
    """,
    fix="""
        Divide all shares of the pool into pods of the same size, such as 2 GPUs of 8; or add nodes
        to the pool until the largest pod always fits.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for pool, owners in _in_use(platform):
        jobs = list(_jobs(platform, pool, owners))
        unit = gcd(*(size for _, _, size, _ in jobs)) or 1
        owned = sum(quota.own for _, quota in owners)
        for tenant, quota, size, pods in jobs:
            others = owned - quota.own
            node = quota.per_node // unit
            room = least_room(pool.promised, node, size // unit, others // unit)
            if room < pods:
                message = (
                    f"team {tenant.name} needs room for {counted(pods, 'pod')} of "
                    f"{quota.unit.counted(size)} in pool `{pool.name}`, "
                    f"{_but(pool, quota.unit.counted(others), room)}"
                )
                yield RULE.at(quota.place, message, notes=owner_notes(owners))


def _in_use(platform: Platform) -> Iterator[tuple[Pool, Owners]]:
    """Yield each pool without its nodes in maintenance, with the shares that are left."""
    for pool, owners in pools(platform):
        left = [(tenant, quota.in_use) for tenant, quota in owners if quota.in_use.nodes]
        yield pool.in_use, left if pool.maintenance else owners


def _but(pool: Pool, others: str, room: int) -> str:
    """Return why a pool has no room."""
    if not pool.promised:
        return "which promises 0 nodes"
    return (
        f"but the other shares, {others} on {counted(pool.promised, 'node')}, "
        f"may leave room for only {room}"
    )


def least_room(nodes: int, node: int, size: int, others: int) -> int:
    """Return how many pods of a size fit for certain beside other shares that may be anywhere.

    The others need the fewest parts to keep a first pod off a node: what would not have fitted, and
    one more.

    Args:
        nodes: of the pool.
        node: parts of a node; this and all that follow are in the same unit.
        size: of one pod.
        others: all that other teams own.
    """
    first = node % size + 1
    spoiled = min(nodes, others // first)
    rest = (others - spoiled * first) // size
    return max(0, nodes * (node // size) - spoiled - rest)


def _jobs(
    platform: Platform, pool: Pool, owners: Owners
) -> Iterator[tuple[Tenant, Quota, int, int]]:
    """Yield each share, the parts of a pod and the pods of a job; for each runtime that fits."""
    for tenant, quota in _shares(owners):
        usable = runtimes(platform, tenant, pool)
        for pods in sorted({each.smallest_job for each in usable}):
            if quota.own % pods == 0:
                yield tenant, quota, quota.own // pods, pods


def _shares(owners: Owners) -> Owners:
    """Return the shares; none beside a whole node, which `capacity/uneven-share` reports."""
    shares = [(tenant, quota) for tenant, quota in owners if quota.is_share]
    return shares if all(quota.own < quota.per_node for _, quota in shares) else []


CHECK = Check(RULE, find, each=("runtimes",))
