"""Teams in trees of cohorts on pools of their own, so that many changes are tried at a time."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from tests.e2e.setup import CLUSTER, FILE, over
from trainyard.model.platform import Site

Changes = dict[str, Any]

LETTERS = "abcd"
RUNTIME = "train"
NODES = 8
"""Of each island's teams together, at most."""


@dataclass(frozen=True, slots=True)
class Island:
    """A tree of three cohorts on a pool that nobody else uses."""

    number: int

    @property
    def pool(self) -> str:
        """The only pool of its teams."""
        return f"isle-{self.number}"

    @property
    def teams(self) -> tuple[str, ...]:
        """Names of its teams."""
        return tuple(f"{letter}{self.number}" for letter in LETTERS)

    def cohort(self, level: str) -> str:
        """Return the name of its cohort ``top``, ``mid`` or ``low``, or of one apart, ``solo``."""
        return f"{level}-{self.number}"

    def priority(self, name: str) -> str:
        """Return the name of its priority ``high`` or ``low``."""
        return f"{name}-{self.number}"

    @property
    def cluster(self) -> Changes:
        """What its cluster has for it."""
        top, mid, low, solo = (self.cohort(each) for each in ("top", "mid", "low", "solo"))
        return {
            "pools": {self.pool: {"nodes": NODES + 1, "reserve": 1, "fabric": "ib"}},
            "cohorts": {top: {}, mid: {"parent": top}, low: {"parent": mid}, solo: {}},
            "priorities": {
                self.priority("high"): 5000 + 10 * self.number,
                self.priority("low"): 1000 + 10 * self.number,
            },
        }

    def dealt(self, order: random.Random) -> Changes:
        """Return its teams with random quotas."""
        nodes = [1, 1, 1, 1]
        for _ in range(NODES - len(nodes)):
            nodes[order.randrange(len(nodes))] += 1
        levels = ("low", "low", "mid", "top")
        return {
            f"teams/{team}.yaml": self._team(team, level, count, order)
            for team, level, count in zip(self.teams, levels, nodes, strict=True)
        }

    def _team(self, team: str, level: str, nodes: int, order: random.Random) -> Changes:
        quota: Changes = {"nodes": nodes, "borrow": order.randrange(4)}
        quota["lend"] = order.choice(("all", "all", order.randrange(nodes + 1)))
        return {
            "contact": "somebody@example.com",
            "groups": {"admin": [f"{team}-leads"], "user": [team], "viewer": [f"{team}-guests"]},
            "serviceAccounts": {"runner": {"role": "user"}},
            "runtimes": [RUNTIME],
            "cohort": self.cohort(level),
            "quota": {CLUSTER: {self.pool: quota}},
            "priorities": [self.priority("high"), self.priority("low")],
            "storage": {"home": "1Ti", "scratch": "2Ti"},
        }


def sea(count: int, order: random.Random) -> Changes:
    """Return the change of the base that gives its cluster some islands."""
    isles = tuple(islands(count))
    found: Changes = {f"runtimes/{RUNTIME}.yaml": _runtime(isles)}
    numbers = iter(range(2, 100))
    for island in isles:
        found[f"hardware/{island.pool}.yaml"] = {"extends": "nvidia-dgx-h100"}
        found = over(over(found, {FILE: island.cluster}), island.dealt(order))
        for team in island.teams:
            number = next(numbers)
            given = {
                "partition": f"0x{0x101 + number:04x}",
                "addresses": f"10.{64 + number // 16}.{number % 16 * 16}.0/20",
            }
            found = over(found, {"allocations.yaml": {CLUSTER: {"ib": {team: given}}}})
    return found


def _runtime(isles: Iterable[Island]) -> Changes:
    """Return a runtime whose smallest job has one node."""
    return {
        "version": 1,
        "displayName": "PyTorch",
        "docs": "https://docs.example.com/ml/train",
        "image": f"registry.example.com/ml/train@sha256:{'a' * 64}",
        "pullSecret": "registry-pull",
        "libraries": {"torch": "2.6.0", "cuda": "12.6", "nccl": "2.23.4"},
        "launcher": "torchrun",
        "hardware": [island.pool for island in isles],
        "maxNodes": NODES,
    }


@dataclass(frozen=True, slots=True)
class Holding:
    """Whole nodes of a team's only pool, and the root of its cohorts' tree."""

    own: int
    borrow: int
    lend: int
    root: str


Holdings = Mapping[str, Holding]


def holdings(site: Site, island: Island) -> dict[str, Holding]:
    """Return what each team of an island has."""
    found = {}
    for tenant in site.tenants:
        if tenant.name in island.teams and tenant.flavors:
            (flavor,) = tenant.flavors
            quota, cohort = flavor.quota, tenant.team.cohort
            root = site.cluster.lineage(cohort)[-1] if cohort else f"alone {tenant.name}"
            found[tenant.name] = Holding(int(quota.nodes), int(quota.borrow), int(quota.lend), root)
    return found


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
    most = max(count for count in range(2 * NODES) if _fits(old, {victim: count}))
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
    return _fits(old, {victim: held, **own})


def _fits(quotas: Holdings, used: Mapping[str, int]) -> bool:
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


def islands(count: int) -> Iterator[Island]:
    """Yield the islands of `sea`."""
    yield from map(Island, range(count))
