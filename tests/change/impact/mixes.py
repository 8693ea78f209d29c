"""Every mix of jobs of a few teams: whether a change has one of them evicted, by arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

NODES = 8
"""Of all teams together, at most."""


@dataclass(frozen=True, slots=True)
class Holding:
    """Whole nodes of a team's only pool, and the root of its cohorts' tree."""

    own: int
    borrow: int
    lend: int
    root: str


Holdings = Mapping[str, Holding]


@dataclass(frozen=True, slots=True)
class Demand:
    """Nodes that jobs take.

    Args:
        held: by the victim.
        wanted: by a job of another team that comes afterwards, within the team's own quota then.
        evicts: whether the change makes Kueue evict the victim for them, by arithmetic.
    """

    held: int
    wanted: Mapping[str, int]
    evicts: bool


def worst_demand(victim: str, old: Holdings, new: Holdings) -> Demand:
    """Return the jobs that are most likely to have a victim evicted, and only after a change.

    Before the change all of them that are within their team's own nodes fit beside the victim's.
    """
    most = max(count for count in range(2 * NODES) if fits(old, {victim: count}))
    others = [team for team in sorted(old.keys() & new.keys()) if team != victim]
    ranges = [range(new[team].own + 1) for team in others]
    possible = (
        (held, wanted)
        for held in range(most + 1)
        for counts in product(*ranges)
        if _is_peaceful(victim, held, wanted := dict(zip(others, counts, strict=True)), old)
    )
    held, wanted = max(
        possible,
        key=lambda each: (
            _lacking(victim, each[0], each[1], new),
            each[0],
            sum(each[1].values()),
        ),
    )
    return Demand(held, wanted, _lacking(victim, held, wanted, new) > 0)


def _is_peaceful(victim: str, held: int, wanted: Mapping[str, int], old: Holdings) -> bool:
    own = {team: min(count, old[team].own) for team, count in wanted.items()}
    return fits(old, {victim: held, **own})


def fits(quotas: Holdings, used: Mapping[str, int]) -> bool:
    """Return whether all jobs of some teams run at once."""
    within = (count <= quotas[team].own + quotas[team].borrow for team, count in used.items())
    return all(within) and all(_short(quotas, used, root) <= 0 for root in _roots(quotas))


def _roots(quotas: Holdings) -> set[str]:
    return {each.root for each in quotas.values()}


def _short(quotas: Holdings, used: Mapping[str, int], root: str) -> int:
    """Return the nodes that a tree of cohorts lacks for what its teams use."""
    members = {team: each for team, each in quotas.items() if each.root == root}
    shared = sum(each.lend for each in members.values())
    taken = (max(0, used.get(team, 0) - each.own + each.lend) for team, each in members.items())
    return sum(taken) - shared


def _lacking(victim: str, held: int, wanted: Mapping[str, int], new: Holdings) -> int:
    """Return the nodes that another team then lacks of its own, as far as the victim has them.

    What a team lends to nobody is not there either as long as all together have too much.
    """
    if victim not in new or held <= new[victim].own:
        return 0
    root = new[victim].root
    found = [0]
    for team, count in wanted.items():
        if count and new[team].root == root:
            rest = {name: each for name, each in wanted.items() if name != team}
            missing = _short(new, {victim: held, **rest}, root)
            found.append(count - new[team].own + new[team].lend + missing)
    return max(found)
