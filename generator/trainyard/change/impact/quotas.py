"""Compare the quota of teams on both sides of a change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from trainyard.change.impact.amounts import (
    Move,
    QuotaChange,
    Transfer,
    resource_changes,
)
from trainyard.change.impact.model import Sides
from trainyard.model.jobs import grants_on, largest_pods
from trainyard.model.money import Money
from trainyard.model.ownership import lent_by_others, owners_of
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.model.queue import Flavor
from trainyard.model.team import Quota
from trainyard.model.tenant import Tenant


def quota_changes(sides: Sides) -> tuple[QuotaChange, ...]:
    """Return each team's quota on a pool that differs, sorted by team and pool."""
    old, new = _both(sides.in_use)
    changes = (_compared(*key, old.get(key), new.get(key)) for key in sorted({*old, *new}))
    # A team pays for nodes in maintenance too, which last a weekend and no month.
    before, after = _months(sides.old, sides.renamed), _months(sides.new, {})
    return tuple(
        replace(
            change,
            month_before=before.get((change.team, change.pool)),
            month_after=after.get((change.team, change.pool)),
        )
        for change in changes
        if change is not None
    )


def transfers(sides: Sides) -> tuple[Transfer, ...]:
    """Return each pool of which some teams lose nodes and others gain some, sorted by pool."""
    old, new = _both(sides)
    moves: dict[str, list[Move]] = defaultdict(list)
    for team, pool in sorted({*old, *new}):
        key = (team, pool)
        moves[pool].append(Move(team, _own(old.get(key)), _own(new.get(key))))
    found = (_transfer(pool, each) for pool, each in sorted(moves.items()))
    return tuple(each for each in found if each.givers and each.takers)


@dataclass(frozen=True, slots=True)
class _Share:
    """A team's quota on a pool, with the pool and the largest job that it admits."""

    quota: Quota
    pool: Pool
    reach: Fraction


_Shares = Mapping[tuple[str, str], _Share]
"""(team, pool) -> its quota."""


def are_comparable(sides: Sides) -> bool:
    """Return whether the numbers of both sides are known: old profiles may be unreadable."""
    return sides.old is not None or not sides.before


def _both(sides: Sides) -> tuple[_Shares, _Shares]:
    if not are_comparable(sides):
        return {}, {}
    return dict(_shares(sides.old, sides.renamed)), dict(_shares(sides.new, {}))


def _shares(
    site: Site | None, renamed: Mapping[str, str]
) -> Iterator[tuple[tuple[str, str], _Share]]:
    """Yield each team's quota on each pool; retired teams have none."""
    if site is None:
        return
    most = most_nodes(site)
    owners = owners_of(site)
    for pool in site.cluster.pools:
        for tenant, quota in owners[pool.name]:
            nodes = most[tenant.name, pool.name]
            share = _Share(quota, pool, _reach(tenant, Flavor(pool, quota), nodes))
            yield (renamed.get(tenant.name, tenant.name), pool.name), share


def most_nodes(site: Site) -> dict[tuple[str, str], Fraction]:
    """Return the nodes of each pool on which jobs of each team can run at a time, at most."""
    found = {}
    owners = owners_of(site)
    for pool in site.cluster.pools:
        lent = lent_by_others(site.cluster, owners[pool.name])
        for tenant, quota in owners[pool.name]:
            borrowed = min(quota.borrow, lent.get(tenant.name, Fraction(0)))
            found[tenant.name, pool.name] = min(quota.nodes + borrowed, Fraction(pool.promised))
    return found


def _reach(tenant: Tenant, flavor: Flavor, nodes: Fraction) -> Fraction:
    """Return the nodes of the largest job that a team's queue can admit on a pool."""
    if tenant.team.is_draining:
        return Fraction(0)
    sizes = (largest_pods(grant, nodes) * grant.launch.part for grant in grants_on(tenant, flavor))
    return max(sizes, default=Fraction(0))


def _compared(
    team: str, pool: str, before: _Share | None, after: _Share | None
) -> QuotaChange | None:
    """Return what differs; None when nothing does."""
    if before and after and _is_same(before, after):
        return None
    (had, reached), (has, reaches) = _numbers(before), _numbers(after)
    resources = resource_changes(_resources(before), _resources(after))
    return QuotaChange(team, pool, had, has, reached, reaches, resources)


def _resources(share: _Share | None) -> dict[str, int]:
    """Return what a team's own nodes have, in base units; a part of one is rounded down."""
    if share is None:
        return {}
    amounts = share.pool.hardware.allocatable.items()
    return {resource: int(amount * share.quota.nodes) for resource, amount in amounts}


def _numbers(share: _Share | None) -> tuple[Quota | None, Fraction]:
    return (share.quota, share.reach) if share else (None, Fraction(0))


def _months(site: Site | None, renamed: Mapping[str, str]) -> dict[tuple[str, str], Money]:
    """Return what each team's own nodes of each pool with a price cost in a month."""
    if site is None:
        return {}
    owners = owners_of(site)
    return {
        (renamed.get(tenant.name, tenant.name), pool.name): pool.price.month(quota.nodes)
        for pool in site.cluster.pools
        if pool.price
        for tenant, quota in owners[pool.name]
    }


def _is_same(before: _Share, after: _Share) -> bool:
    """Return whether the numbers are equal, wherever the profile states them."""
    moved = replace(before.quota, at=after.quota.at)
    nodes = [each.pool.hardware.allocatable for each in (before, after)]
    return moved == after.quota and before.reach == after.reach and nodes[0] == nodes[1]


def _transfer(pool: str, moves: list[Move]) -> Transfer:
    givers = tuple(move for move in moves if move.after < move.before)
    takers = tuple(move for move in moves if move.after > move.before)
    return Transfer(pool, givers, takers)


def _own(share: _Share | None) -> Fraction:
    return share.quota.nodes if share else Fraction(0)
