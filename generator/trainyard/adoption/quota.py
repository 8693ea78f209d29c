"""Turn amounts of queues into nodes, or GPUs or cores of one node; nothing is rounded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from trainyard.adoption.model import Cell, Crew, Pool, Share
from trainyard.adoption.queues import cohort_of
from trainyard.model.facts import Body, place_of
from trainyard.model.lookup import mapping, text
from trainyard.model.quantity import counted, whole_number
from trainyard.model.unit import Unit

MOST_WEIGHT = 1000
"""Largest weight of a cohort or team, as in the schemas."""

Lendable = Callable[[Crew, Pool, str], int]
"""Returns what the others of a team's cohort lend of a resource of a pool, in base units."""


@dataclass(frozen=True, slots=True)
class Site:
    """The pools and teams that are drafted.

    Args:
        flavors: pools by the flavor that selects their nodes.
        parents: parent of each cohort that has one.
    """

    pools: Mapping[str, Pool]
    crews: Sequence[Crew]
    flavors: Mapping[str, Sequence[str]]
    parents: Mapping[str, str]

    def pool_of(self, cell: Cell) -> Pool | None:
        """Return the pool that a flavor is; None where it is none, or several."""
        names = self.flavors.get(cell.flavor, ()) if cell.flavor else self._with(cell.resource)
        found = [self.pools[name] for name in names if name in self.pools]
        return found[0] if len(names) == 1 and found else None

    def _with(self, resource: str) -> list[str]:
        """Return the pools that a ResourceQuota may mean: it names no flavor."""
        every = list(self.pools.values())
        gpus = [pool.name for pool in every if pool.counted != "cpu"]
        return [pool.name for pool in every if pool.counted == resource] or gpus

    def cells(self, crew: Crew, pool: Pool) -> list[Cell]:
        """Return what a team has on a pool."""
        return [cell for cell in crew.cells if self.pool_of(cell) is pool]

    def root(self, cohort: str) -> str:
        """Return the top of a cohort's tree, whose members all lend to each other."""
        seen = [cohort]
        while (parent := self.parents.get(seen[-1], "")) and parent not in seen:
            seen.append(parent)
        return seen[-1]


def parents_of(cohorts: Sequence[Body]) -> dict[str, str]:
    """Return the parent of each cohort that has one; v1alpha1 has another name for it."""
    found = {}
    for body in cohorts:
        parent = text(body, "spec", "parentName") or text(body, "spec", "parent")
        if parent:
            found[place_of(body)[1]] = parent
    return found


def shares(site: Site) -> Iterator[Share]:
    """Yield the quota of each team on each pool that its queues name."""
    for crew in site.crews:
        for pool in site.pools.values():
            if cells := site.cells(crew, pool):
                yield _share(site, crew, pool, cells)


def _share(site: Site, crew: Crew, pool: Pool, cells: Sequence[Cell]) -> Share:
    own = [cell for cell in cells if cell.resource == pool.counted]
    nominal = sum(cell.nominal for cell in own)
    unit, per_unit = _unit(pool, nominal)
    asked = {"own": nominal, "borrow": _borrowed(site, crew, pool, own), **_lent(crew, own)}
    known = {word: _whole(amount, per_unit) for word, amount in asked.items()}
    return Share(
        team=crew.name,
        pool=pool.name,
        unit=unit,
        own=known["own"],
        borrow=known["borrow"] or 0,
        lend=known.get("lend"),
        part=_part(pool, unit),
        open=_undecided(pool, asked, per_unit),
    )


def _undecided(pool: Pool, asked: Mapping[str, int], per_unit: int) -> dict[str, str]:
    """Return what is left to choose of the amounts that are not a whole number of units."""
    words = [word for word, amount in asked.items() if _whole(amount, per_unit) is None]
    return {word: _between(pool, asked[word], per_unit, word) for word in words}


def _lent(crew: Crew, own: Sequence[Cell]) -> dict[str, int]:
    """Return what a team lends at most; nothing where it lends all."""
    limit = sum(cell.nominal if cell.lend is None else cell.lend for cell in own)
    is_all = not crew.cohort or limit == sum(cell.nominal for cell in own)
    return {} if is_all else {"lend": limit}


def _borrowed(site: Site, crew: Crew, pool: Pool, own: Sequence[Cell]) -> int:
    """Return what a team may borrow: its limit, or all that its cohort lends."""
    if not crew.cohort:
        return 0
    if is_unlimited(crew, own):
        return lendable(site, crew, pool)
    return sum(cell.borrow or 0 for cell in own)


def is_unlimited(crew: Crew, cells: Sequence[Cell]) -> bool:
    """Return whether a team may borrow all that its cohort lends."""
    return bool(crew.cohort) and any(cell.borrow is None for cell in cells)


def lendable(site: Site, crew: Crew, pool: Pool) -> int:
    """Return what the others of a team's cohorts lend of a pool, in whole units of a node."""
    root = site.root(crew.cohort)
    total = 0
    for other in site.crews:
        if other is crew or not other.cohort or site.root(other.cohort) != root:
            continue
        for cell in site.cells(other, pool):
            if cell.resource == pool.counted:
                total += cell.nominal if cell.lend is None else min(cell.lend, cell.nominal)
    return total


def _unit(pool: Pool, nominal: int) -> tuple[Unit, int]:
    """Return the unit of a quota, and how much of the counted resource one unit is."""
    node = _node(pool, nominal)
    if nominal >= node or nominal == 0:
        return Unit.NODES, node
    if pool.counted != "cpu":
        return Unit.GPUS, 1
    if pool.cores:
        return Unit.CORES, int(1000 / pool.cores)
    return Unit.NODES, node


def _part(pool: Pool, unit: Unit) -> Fraction:
    """Return the part of a node that one unit of a quota is."""
    promised = pool.per_node[pool.counted]
    if unit is Unit.NODES or not promised:
        return Fraction(1)
    if unit is Unit.GPUS:
        return Fraction(1, promised)
    return Fraction(1, max(int(promised // 1000 * (pool.cores or 1)), 1))


def _node(pool: Pool, nominal: int) -> int:
    """Return what a site counts as one node: what is promised, or all that kubelet offers."""
    promised, offered = pool.per_node[pool.counted], pool.offered[pool.counted]
    is_offered = offered and nominal % offered == 0 and (not promised or nominal % promised)
    return offered if is_offered else promised


def _whole(amount: int, per_unit: int) -> int | None:
    """Return an amount in units; None where it is not a whole number of them."""
    if not per_unit:
        return None if amount else 0
    number, rest = divmod(amount, per_unit)
    return None if rest else number


def _between(pool: Pool, amount: int, per_unit: int, word: str) -> str:
    """Return the choice between the whole numbers of nodes below and above an amount."""
    if not per_unit:
        return f"{word}: the nodes of pool {pool.name} have none of {pool.counted}"
    low, rest = divmod(amount, per_unit)
    if pool.counted == "cpu":
        is_ = f"{amount / 1000:g} CPUs are {counted(low, 'node')} and {rest / 1000:g} CPUs"
    else:
        is_ = f"{counted(amount, 'GPU')} are {counted(low, 'node')} and {counted(rest, 'GPU')}"
    key = "nodes" if word == "own" else word
    return f"{key} {low} or {low + 1}: {is_}"


def mixed(found: Sequence[Share]) -> Iterator[str]:
    """Yield pools in which some teams own nodes and others parts, and what to choose."""
    by_pool: dict[str, dict[bool, list[str]]] = {}
    for share in found:
        by_pool.setdefault(share.pool, {}).setdefault(share.unit is Unit.NODES, []).append(
            share.team
        )
    for pool, teams in by_pool.items():
        if len(teams) == 2:
            whole, parts = ", ".join(teams[True]), ", ".join(teams[False])
            yield (
                f"pools: {whole} own nodes of {pool}, and {parts} parts of one: "
                "parts need a pool of their own, with a label of its own"
            )


def weight_of(crew: Crew) -> int | None:
    """Return the weight of a team among those of its cohort; None where a profile can't state it.

    A team has one for all its queues, a whole number.
    """
    stated = {
        str(mapping(dict(body), "spec", "fairSharing").get("weight", 1)) for body in crew.queues
    }
    weight = whole_number(stated.pop()) if len(stated) == 1 else None
    return weight if weight and weight <= MOST_WEIGHT else None


def cohorts_of(crew: Crew) -> list[str]:
    """Return the cohorts of a team's queues; a team has one."""
    return sorted({cohort_of(body) for body in crew.queues} - {""})
