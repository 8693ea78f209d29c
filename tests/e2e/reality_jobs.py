"""Jobs under which a change shows whom it evicts.

Kueue alone judges: what is computed here only chooses jobs that it had room for, and of which it
has to evict some afterwards if it ever does.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from trainyard.model.platform import Site
from trainyard.model.tenant import Tenant


@dataclass(frozen=True, slots=True)
class Share:
    """What a team has of the pool.

    Args:
        tree: root of its cohorts; the team itself without a cohort.
        priorities: that it may use, with their values.
    """

    own: int
    borrow: int
    lend: int
    tree: str
    is_open: bool
    priorities: Mapping[str, int]


Shares = Mapping[str, Share]
Load = Mapping[str, int]
"""Team -> nodes of its job."""


@dataclass(frozen=True, slots=True)
class Request:
    """A job that is submitted: nodes and priority."""

    team: str
    nodes: int
    priority: str = "batch"


@dataclass(frozen=True, slots=True)
class Situation:
    """Jobs before a change and after it.

    Args:
        runs: that are admitted before.
        waits: that are submitted before, and wait.
        claims: that are submitted afterwards.
        judged: teams whose jobs the change must evict, or must not.
        evicts: whether some are, as far as is known here.
    """

    runs: tuple[Request, ...]
    waits: tuple[Request, ...] = ()
    claims: tuple[Request, ...] = ()
    judged: frozenset[str] = field(default_factory=frozenset)
    evicts: bool = False


def shares_of(site: Site) -> dict[str, Share]:
    """Return what each team has of the only pool."""
    return {tenant.name: _share(site, tenant) for tenant in site.tenants if tenant.queues}


def _share(site: Site, tenant: Tenant) -> Share:
    (quota,) = (each.quota.in_use for each in tenant.flavors)
    cohort = tenant.team.cohort
    tree = site.cluster.lineage(cohort)[-1] if cohort else f"only {tenant.name}"
    known = {each.name: each.value for each in tenant.spaces[0].priorities}
    is_open = tenant.queues[0].state.is_open
    return Share(int(quota.nodes), int(quota.borrow), int(quota.lend), tree, is_open, known)


def fit(shares: Shares, load: Load) -> bool:
    """Return whether some jobs run beside each other."""
    within = all(
        nodes <= shares[team].own + shares[team].borrow for team, nodes in load.items() if nodes
    )
    return within and _have_room(shares, load)


def _have_room(shares: Shares, load: Load, claimant: str = "") -> bool:
    """Return whether the teams of each tree use no more than it has.

    A job that runs already stays beyond a limit that is lowered. What a team lends to nobody is
    kept, but not beyond its own claim: Kueue adds what is missing in the tree to what it has.
    """
    for tree in {each.tree for each in shares.values()}:
        teams = {name: share for name, share in shares.items() if share.tree == tree}
        used = 0
        for name, each in teams.items():
            kept = 0 if name == claimant else each.own - each.lend
            used += max(load.get(name, 0), kept)
        if used > sum(each.own for each in teams.values()):
            return False
    return True


def situation(before: Site, after: Site, said: Iterable[str], order: random.Random) -> Situation:
    """Return jobs that show best whom a change evicts: those it is said to evict, else anyone."""
    old, new = shares_of(before), shares_of(after)
    if any(old[name].is_open and not new[name].is_open for name in old.keys() & new.keys()):
        return _full(old, frozenset(old))
    if _other_values(old, new):
        passing = dict(_passing(old, new))
        # The others' jobs get the new value one by one: some are evicted now and then.
        return _full(old, frozenset(passing), passing)
    mentioned = sorted(said)
    order.shuffle(mentioned)
    for team in (*mentioned, *order.sample(sorted(old), len(old))):
        if found := _reclaimed(team, old, new):
            return found
    return _full(old, frozenset(mentioned[:1] or old))


def _other_values(old: Shares, new: Shares) -> bool:
    """Return whether a priority of a team has another value."""
    for team in old.keys() & new.keys():
        before, after = old[team].priorities, new[team].priorities
        if any(before[name] != after[name] for name in before.keys() & after.keys()):
            return True
    return False


def _passing(old: Shares, new: Shares) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each team with a priority that passes another one of it, and that other one."""
    for team in old.keys() & new.keys():
        before, after = old[team].priorities, new[team].priorities
        for lower, higher in product(before.keys() & after.keys(), repeat=2):
            if before[lower] <= before[higher] and after[lower] > after[higher]:
                yield team, (lower, higher)


def _full(
    shares: Shares, judged: frozenset[str], passing: Mapping[str, tuple[str, str]] | None = None
) -> Situation:
    """Return a job of each team on all of its own nodes, and another one that waits."""
    passes = passing or {}
    runs, waits = [], []
    for team, share in sorted(shares.items()):
        if share.is_open and share.own:
            default = min(share.priorities, key=lambda name: share.priorities[name])
            lower, higher = passes.get(team, (default, default))
            runs.append(Request(team, share.own, higher))
            waits.append(Request(team, share.own, lower))
    only_one = waits if passes else waits[:1]
    return Situation(tuple(runs), tuple(only_one), judged=judged, evicts=bool(passes))


def _reclaimed(team: str, old: Shares, new: Shares) -> Situation | None:
    """Return jobs that ran together before a change, and don't afterwards because of a team."""
    if team not in old or team not in new or not (old[team].is_open and new[team].is_open):
        return None
    mine = old[team]
    for nodes in range(mine.own + mine.borrow, new[team].own, -1):
        for other in sorted(old.keys() & new.keys() - {team}):
            for claim in range(new[other].own, 0, -1):
                if found := _conflict(Request(team, nodes), Request(other, claim), old, new):
                    return found
    return None


def _conflict(mine: Request, other: Request, old: Shares, new: Shares) -> Situation | None:
    """Return a job beside others, and a claim that evicts it after a change and not before.

    Before it, the claim has room beside the others. A team that gets nodes runs on its old ones.
    """
    claimant = new[other.team]
    if not (claimant.is_open and old[other.team].is_open):
        return None
    has = min(other.nodes, old[other.team].own)
    load = {mine.team: mine.nodes, other.team: has}
    if not fit(old, load):
        return None
    # Those that share nodes with the claimant afterwards leave the least room for it.
    rest = old.keys() & new.keys() - {mine.team, other.team}
    for name in sorted(rest, key=lambda each: (new[each].tree != claimant.tree, each)):
        most = min(old[name].own, new[name].own) if old[name].is_open and new[name].is_open else 0
        more = range(most, 0, -1)
        load[name] = next((each for each in more if fit(old, {**load, name: each})), 0)
    load[other.team] = other.nodes
    without = {**load, mine.team: 0}
    if _have_room(new, load, other.team) or not _have_room(new, without, other.team):
        return None
    if new[mine.team].tree != claimant.tree:
        return None
    runs_on = has if has < other.nodes else 0
    others = {**load, mine.team: 0, other.team: runs_on}
    runs = (mine, *(Request(name, nodes) for name, nodes in others.items() if nodes))
    claims = (Request(other.team, other.nodes - runs_on),)
    return Situation(runs, claims=claims, judged=frozenset({mine.team}), evicts=True)
