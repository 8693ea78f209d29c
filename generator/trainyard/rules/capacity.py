"""Quota against the hardware that is really there."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import format_bytes, format_cpu, format_nodes
from trainyard.model.team import Quota
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check
from trainyard.rules._walk import hardware, shares

OVERSUBSCRIBED = Rule(
    id="capacity/oversubscribed",
    severity=Severity.ERROR,
    summary="The teams of a cluster own no more nodes of a pool than the pool has, its reserve left aside.",
    why=(
        "Without a fabric Kueue does not look at nodes: it admits the gangs, some of their pods stay Pending for ever,"
        " and the nodes of the others are held. With one their jobs wait beside quota that they have: `doesn't allow to"
        ' fit any of 1 pod(s). Total nodes: <n>; excluded: resource "cpu": <n>` (seen with Kueue 0.19.2).'
    ),
    fix="Lower a team's `nodes`, or raise the pool's.",
)
NO_RESERVE = Rule(
    id="capacity/no-reserve",
    severity=Severity.WARNING,
    summary="A pool whose every node is owned keeps some in reserve.",
    why=(
        "When one node fails, quota is larger than the hardware: on a fabric the whole job on it is evicted, `as there"
        " was no replacement for unhealthy node(s): <node>` (seen with Kueue 0.19.2); without one Kueue goes on to"
        " admit, and the largest gangs wait for a node that is not there while they hold the others."
    ),
    fix="Give the pool a `reserve` of at least one node, and the teams that much less.",
)
IDLE_NODES = Rule(
    id="capacity/idle-nodes",
    severity=Severity.WARNING,
    summary="Every node that a pool promises is owned by some team.",
    why=(
        "Kueue lends what a team owns and nothing else: beside nodes that nobody owns a job waits, `insufficient unused"
        " quota for <resource> in flavor <pool>` (seen with Kueue 0.19.2)."
    ),
    fix="Give the nodes to a team that lends them, or keep them in the pool's `reserve`.",
)
BORROW_EXCEEDS_LENDERS = Rule(
    id="capacity/borrow-exceeds-lenders",
    severity=Severity.WARNING,
    summary="A team borrows no more nodes than the others of its tree of cohorts lend.",
    why=(
        "The limit promises what is never there: a job of that size waits for ever: `insufficient quota for"
        " <resource> in flavor <pool>, previously considered podsets requests (0) + current podset request (<n>) >"
        " maximum capacity (<n>)` (seen with Kueue 0.19.2)."
    ),
    fix="Lower `borrow`, or let the others lend more.",
)
SYSTEM_SHARE_EXCEEDS_NODE = Rule(
    id="capacity/system-share-exceeds-node",
    severity=Severity.ERROR,
    summary="What daemons keep of a node leaves something of each resource, and one core at least.",
    why=(
        "A node of quota would be worth nothing or less, and the API server refuses a negative quota: `must be greater"
        " than or equal to 0` (seen with Kueue 0.19.2)."
    ),
    fix="Lower the share in `system`, or correct the node's size.",
)


def oversubscribed(platform: Platform) -> Iterator[Diagnostic]:
    """Sum the nodes of every team on a pool; the finding stands at the pool and names each share."""
    for site in platform.sites:
        owners = shares(site)
        for pool in site.cluster.pools:
            owned = _owned(owners[pool.name])
            if owned > pool.promised:
                message = (
                    f"teams own {format_nodes(owned, pool.hardware.gpus)} of pool `{pool.name}`, which promises"
                    f" {pool.promised} ({pool.nodes} less {pool.reserve} in reserve)"
                )
                notes = [
                    Note(f"team {tenant.name} owns {quota.told(quota.own)}", quota.place)
                    for tenant, quota in owners[pool.name]
                ]
                yield OVERSUBSCRIBED.at(pool.at / "nodes", message, notes=notes)


def _owned(owners: list[tuple[Tenant, Quota]]) -> Fraction:
    return sum((quota.nodes for _, quota in owners), Fraction(0))


def no_reserve(platform: Platform) -> Iterator[Diagnostic]:
    """Find pools that are owned to the last node; a pool of one node has none to keep in reserve."""
    for site in platform.sites:
        owners = shares(site)
        for pool in site.cluster.pools:
            owned = _owned(owners[pool.name])
            if not pool.reserve and owned == pool.nodes > 1:
                message = f"teams own all {pool.nodes} nodes of pool `{pool.name}`, and none is in reserve"
                yield NO_RESERVE.at(pool.at / "reserve", message)


def idle_nodes(platform: Platform) -> Iterator[Diagnostic]:
    """Find pools of which teams own less than is promised."""
    for site in platform.sites:
        owners = shares(site)
        for pool in site.cluster.pools:
            owned = _owned(owners[pool.name])
            if owned < pool.promised:
                idle = pool.promised - owned
                what = format_nodes(idle, pool.hardware.gpus)
                message = f"nobody owns {what} of the {pool.promised} that pool `{pool.name}` promises"
                yield IDLE_NODES.at(pool.at / "nodes", message)


def borrow_exceeds_lenders(platform: Platform) -> Iterator[Diagnostic]:
    """Compare each borrowing limit with what all others below the same root lend of that pool."""
    for site in platform.sites:
        gpus = {pool.name: pool.hardware.gpus for pool in site.cluster.pools}
        roots = {cohort.name: site.cluster.lineage(cohort.name)[-1] for cohort in site.cluster.cohorts}
        for pool, quotas in shares(site).items():
            lent: dict[str, Fraction] = {}
            members = [(roots[tenant.team.cohort], quota) for tenant, quota in quotas if tenant.team.cohort]
            for root, quota in members:
                lent[root] = lent.get(root, Fraction(0)) + quota.lend
            for root, quota in members:
                if quota.borrow > (others := lent[root] - quota.lend):
                    what = format_nodes(quota.borrow, gpus[pool])
                    message = f"{what} of pool `{pool}` may be borrowed, but the others lend"
                    message += f" {format_nodes(others, gpus[pool])}"
                    yield BORROW_EXCEEDS_LENDERS.at(quota.at / "borrow", message)


def system_share_exceeds_node(platform: Platform) -> Iterator[Diagnostic]:
    """Compare each part of the system's share with the node's own; a job needs a whole core at least."""
    for each in hardware(platform):
        total, system = each.total, each.system
        parts = (
            ("cpu", system.cpu, total.cpu, 1000 * each.threads // each.cores, format_cpu),
            ("memory", system.memory, total.memory, 1, format_bytes),
            ("ephemeralStorage", system.ephemeral_storage, total.ephemeral_storage, 1, format_bytes),
            ("pods", system.pods, total.pods, 1, str),
        )
        for field, share, whole, least, form in parts:
            if whole - share < least:
                message = f"the system keeps {form(share)} of the {form(whole)} {field} of a `{each.name}`"
                yield SYSTEM_SHARE_EXCEEDS_NODE.at(each.at / "system" / field, message)


CHECKS = (
    Check(OVERSUBSCRIBED, oversubscribed),
    Check(NO_RESERVE, no_reserve, every=("teams/", "quota")),
    Check(IDLE_NODES, idle_nodes, every=("teams/", "quota")),
    Check(BORROW_EXCEEDS_LENDERS, borrow_exceeds_lenders, every=("teams/", "quota", "cohort", "cohorts")),
    Check(SYSTEM_SHARE_EXCEEDS_NODE, system_share_exceeds_node),
)
