"""Have the other shares of a pool lie as badly as they can, and look for room for a team's job."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.quantity import counted
from trainyard.model.team import Quota
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check
from trainyard.rules._shares import owns, pools, runtimes

RULE = Rule(
    id="capacity/share-without-a-place",
    severity=Severity.ERROR,
    summary="A team's share finds room on its pool, wherever the other shares lie.",
    why="""
        Jobs come and go, and what stays may lie on every node: none then has as many free GPUs as
        one pod wants. The team's own GPUs are free, its job waits, `doesn't allow to fit any of 1
        pod(s)` (seen with Kueue 0.19.2), and as nobody uses more than they own nothing is
        reclaimed.
    """,
    fix="""
        Divide all shares of the pool into pods of the same size, such as 2 GPUs of 8; or add nodes
        to the pool until the largest pod has a place.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for pool, owners in pools(platform):
        sizes = {
            tenant.name: _sizes(platform, tenant, quota, pool)
            for tenant, quota in owners
            if quota.is_share
        }
        unit = gcd(*(size for each in sizes.values() for size, _ in each)) or 1
        everything = sum(quota.gpus for _, quota in owners)
        for tenant, quota in owners:
            for size, pods in sizes.get(tenant.name, ()):
                others = everything - quota.gpus
                room = least_room(
                    pool.promised, pool.hardware.gpus // unit, size // unit, others // unit
                )
                if room < pods:
                    message = (
                        f"team {tenant.name} needs room for {counted(pods, 'pod')} of "
                        f"{counted(size, 'GPU')} in pool `{pool.name}`, and the other shares, "
                        f"{counted(others, 'GPU')} on {counted(pool.promised, 'node')}, can leave "
                        f"room for {room}"
                    )
                    yield RULE.at(quota.at / "gpus", message, notes=owns(owners))


def least_room(nodes: int, gpus: int, size: int, others: int) -> int:
    """Return how many pods of a size surely find room beside others that may lie anywhere; all in the same unit.

    The first pod that a node has no room for costs the others little: what would not have fitted,
    and one more.
    """
    first = gpus % size + 1
    spoiled = min(nodes, others // first)
    rest = (others - spoiled * first) // size
    return max(0, nodes * (gpus // size) - spoiled - rest)


def _sizes(platform: Platform, tenant: Tenant, quota: Quota, pool: Pool) -> list[tuple[int, int]]:
    """Return GPUs of a pod, and pods of a job, for each way that a team's runtimes divide its share."""
    pods = {each.launcher.smallest_job for each in runtimes(platform, tenant, pool)}
    return [(quota.gpus // each, each) for each in sorted(pods) if quota.gpus % each == 0]


CHECK = Check(RULE, find, each=("runtimes",))
