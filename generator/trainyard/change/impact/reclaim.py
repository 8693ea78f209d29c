"""Whose running jobs others may reclaim after a change, beside which they fit before.

Kueue stops no job because a quota falls. It stops jobs of a team that is beyond its quota when the
jobs of another team, within that team's own quota, lack nodes that their tree of cohorts shares. So
a change reaches a team where the jobs of all could run together before, and can't afterwards.
Source: kubernetes-sigs/kueue:pkg/cache/scheduler/resource_node.go and
pkg/scheduler/preemption/preemption.go@v0.19.2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from trainyard.model.ownership import owners_of
from trainyard.model.platform import Site
from trainyard.model.tenant import Tenant

Key: TypeAlias = tuple[str, str]
"""A team and a pool."""

Tree: TypeAlias = tuple[str, str]
"""The root of a tree of cohorts, or a team without a cohort."""


@dataclass(frozen=True, slots=True)
class Member:
    """What a team has of a pool; without a cohort the tree is its own."""

    own: Fraction
    borrow: Fraction
    lend: Fraction
    tree: Tree


Members: TypeAlias = Mapping[str, Member]


def losers(
    old: Site | None, new: Site | None, renamed: Mapping[str, str]
) -> dict[Key, frozenset[Key]]:
    """Return the teams and pools that each team and pool makes lose nodes; teams by old names.

    Args:
        old: the cluster before the change; nobody loses where a side is not known.
        new: the cluster after it.
        renamed: old name of a team -> its new name.
    """
    if old is None or new is None:
        return {}
    former = {after: before for before, after in renamed.items()}
    before, after = _members(old, {}, {}), _members(new, former, _smaller(old, new))
    lost: dict[Key, set[Key]] = defaultdict(set)
    for pool, members in before.items():
        for team, cause in _pairs(members, after.get(pool, {})):
            lost[cause, pool].add((team, pool))
    return {key: frozenset(keys) for key, keys in lost.items()}


def _pairs(before: Members, after: Members) -> Iterator[tuple[str, str]]:
    """Yield each team of a pool that loses nodes, with each team by which it does."""
    for team in before.keys() & after.keys() if before != after else ():
        for cause in causes(team, before, after):
            yield team, cause


def _smaller(old: Site, new: Site) -> dict[str, Fraction]:
    """Return what a node of each pool still is, in nodes as they were; 1 is left out."""
    nodes = {pool.name: pool.hardware.allocatable for pool in old.cluster.pools}
    smaller: dict[str, Fraction] = {}
    for pool in new.cluster.pools:
        for resource, amount in nodes.get(pool.name, {}).items():
            now = pool.hardware.allocatable.get(resource, 0)
            if now < amount:
                part = Fraction(now, amount)
                smaller[pool.name] = min(part, smaller.get(pool.name, part))
    return smaller


def _members(
    site: Site, former: Mapping[str, str], smaller: Mapping[str, Fraction]
) -> dict[str, dict[str, Member]]:
    """Return the owners of each pool by their former names, in nodes as they were."""
    found: dict[str, dict[str, Member]] = defaultdict(dict)
    for pool, owners in owners_of(site).items():
        part = smaller.get(pool, Fraction(1))
        for tenant, quota in owners:
            found[pool][former.get(tenant.name, tenant.name)] = Member(
                quota.nodes * part,
                quota.borrow * part,
                quota.lend * part,
                tree_of(tenant),
            )
    return found


def tree_of(tenant: Tenant) -> Tree:
    """Return the root of a team's tree of cohorts, or the team without a cohort."""
    cohort = tenant.team.cohort
    return (tenant.cluster.lineage(cohort)[-1], "") if cohort else ("", tenant.name)


def causes(team: str, before: Members, after: Members) -> set[str]:
    """Return the teams whose change makes a team lose nodes, itself included."""
    mine, now = before[team], after[team]
    # What an owner lends to nobody is not there either as long as all together have too much.
    owners = {name for name, member in _others(team, after).items() if member.own}
    gains = dict(_gains(team, before, after, owners))
    if now.own < mine.own and owners:
        gains[team] = mine.own - now.own
    more = max(now.own - mine.own, Fraction(0))
    return {*gains} if sum(gains.values(), Fraction(0)) > more else set()


def _others(team: str, members: Members) -> dict[str, Member]:
    """Return the other teams of a team's tree."""
    tree = members[team].tree
    return {
        name: member for name, member in members.items() if name != team and member.tree == tree
    }


def _gains(
    team: str, before: Members, after: Members, owners: set[str]
) -> Iterator[tuple[str, Fraction]]:
    """Yield each lender of a team, with the nodes of it that the team has too many then.

    Args:
        team: that borrows.
        before: members of the pool before the change.
        after: members of it after the change.
        owners: teams of the team's tree that own nodes then.
    """
    lenders, shared = _others(team, before), _others(team, after)
    lent = sum((lender.lend for lender in lenders.values()), Fraction(0))
    reach = min(before[team].borrow, lent)
    for name, lender in lenders.items():
        later = shared.get(name)
        gain = _gain(lender, later, reach)
        # The jobs of a lender that only lends less fit beside the others' now as before.
        is_smaller = later is not None and later.own < lender.own
        if gain and (owners if is_smaller else owners - {name}):
            yield name, gain


def _gain(lender: Member, later: Member | None, reach: Fraction) -> Fraction:
    """Return the nodes of a lender that a borrower has too many after a change.

    Before, the lender's jobs leave free what the borrower has of it.

    Args:
        lender: before the change.
        later: after it; None where it shares nothing with the borrower any more.
        reach: nodes that the borrower may have borrowed.
    """
    most = min(lender.lend, reach)
    if later is None:
        return most
    fewer, gain = lender.own - later.own, Fraction(0)
    for lent in (min(most, max(fewer, Fraction(0))), most):
        gain = max(gain, lent - min(max(lent - fewer, Fraction(0)), later.lend))
    return gain
