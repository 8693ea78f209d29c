"""Words and numbers of a cluster's capacity that text, Markdown and the report share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trainyard.capacity.figures import (
    Capacity,
    FabricCapacity,
    Job,
    Part,
    PoolCapacity,
    Resource,
)
from trainyard.model.quantity import counted, format_amount

_NUMBERED = re.compile(r"(.*\D)(\d+)")
_NAMES = 4  # lenders and teams that a line lists


@dataclass(frozen=True, slots=True)
class ResourceRow:
    """One resource, or several with consecutive numbers and the same figures, as text."""

    name: str
    per_node: str
    promised: str
    nominal: str
    head_room: str
    binds: bool

    @property
    def figures(self) -> tuple[str, ...]:
        """Its figures in the order of the columns, and whether it is used up first."""
        last = "yes" if self.binds else ""
        return (self.per_node, self.promised, self.nominal, self.head_room, last)


def unit(pool: PoolCapacity, number: int) -> str:
    """Return a number of the pool's units as text, e.g. ``8 nodes``."""
    return pool.unit.counted(number)


def size(pool: PoolCapacity) -> str:
    """Return the size of a pool, e.g. ``17 nodes, 1 in reserve, 16 promised``."""
    in_use = f"{pool.nodes - pool.out_of_use} of " if pool.maintenance else ""
    nodes = counted(pool.nodes, "node")
    return f"{in_use}{nodes}, {pool.reserve} in reserve, {pool.promised} promised"


def balance(pool: PoolCapacity) -> str:
    """Return what is left of a pool, or how much too much of it teams own."""
    left = pool.head_room
    if left < 0:
        return f"{unit(pool, pool.units(-left))} more owned than promised"
    return f"head-room {unit(pool, pool.units(left))}"


def numbers(fabric: FabricCapacity) -> str:
    """Return how much of its ranges a fabric has given, and how many teams can still join it."""
    return (
        f"{fabric.segments_given} of {counted(fabric.segments, fabric.unit)} given, "
        f"{fabric.blocks_given} of {counted(fabric.blocks, 'block')} (/{fabric.prefix}), "
        f"head-room {counted(fabric.head_room, 'team')}"
    )


def borrowing(pool: PoolCapacity, part: Part) -> str:
    """Return what a team may borrow, and its limit if the others lend less, e.g. ``4 of 8``."""
    within, limit = pool.units(part.borrowable), pool.units(part.borrow)
    return str(limit) if within == limit else f"{within} of {limit}"


def borrowable(pool: PoolCapacity, part: Part) -> str:
    """Return what a team may borrow as text, e.g. ``up to 4 of 8 nodes``."""
    within, limit = pool.units(part.borrowable), unit(pool, pool.units(part.borrow))
    return f"up to {limit}" if part.borrowable == part.borrow else f"up to {within} of {limit}"


def job(pool: PoolCapacity, largest: Job) -> int:
    """Return the size of a job in the pool's units."""
    return pool.units(largest.nodes)


def rows(resources: Sequence[Resource]) -> Iterator[ResourceRow]:
    """Yield the resources; rails that differ only in their number are one row."""
    named: list[tuple[str, Resource]] = []
    for resource in resources:
        if named and _follows(named[-1], resource):
            first = named[-1][0].partition(" to ")[0]
            named[-1] = (f"{first} to {_number(resource.name)}", resource)
        else:
            named.append((resource.name, resource))
    for name, each in named:
        yield ResourceRow(
            name,
            per_node=amount(each.name, each.per_node),
            promised=amount(each.name, each.promised),
            nominal=amount(each.name, each.nominal),
            head_room=amount(each.name, each.head_room),
            binds=each.binds,
        )


def amount(resource: str, number: int) -> str:
    """Return an amount of a resource, which may be negative, as a quantity."""
    return format_amount(resource, number) if number >= 0 else f"-{amount(resource, -number)}"


def _follows(former: tuple[str, Resource], later: Resource) -> bool:
    before, after = _NUMBERED.fullmatch(former[1].name), _NUMBERED.fullmatch(later.name)
    if not before or not after or before[1] != after[1] or int(after[2]) != int(before[2]) + 1:
        return False
    return _figures(former[1]) == _figures(later)


def _number(name: str) -> str:
    match = _NUMBERED.fullmatch(name)
    assert match
    return match[2]


def _figures(each: Resource) -> tuple[object, ...]:
    return (each.per_node, each.nodes, each.promised, each.nominal, each.binds)


def some(names: Sequence[str]) -> str:
    """Return names as a list that ends after a few."""
    shown = names[:_NAMES]
    more = [f"{len(names) - len(shown)} more"] if len(names) > len(shown) else []
    return ", ".join([*shown, *more])


def lenders(pool: PoolCapacity, borrower: Part) -> list[str]:
    """Return who lends to a team, the largest lender first, e.g. ``science 4``."""
    others = [part for part in pool.parts if part.lend and part.team != borrower.team]
    others.sort(key=lambda part: (-part.lend, part.team))
    return [f"{part.team} {pool.units(part.lend)}" for part in others if part.root == borrower.root]


def endings(pool: PoolCapacity) -> Iterator[tuple[Part, str]]:
    """Yield each team whose quota has a last day, with the day and what follows."""
    for part in pool.parts:
        if part.term:
            yield part, part.term.display(unit(pool, pool.units(part.term.nodes)))


def stops(pool: PoolCapacity) -> Iterator[str]:
    """Yield the teams whose queue a state stops, those of one cause together."""
    teams: dict[str, list[str]] = {}
    for part in pool.parts:
        if not part.state.is_open:
            teams.setdefault(part.state.display, []).append(part.team)
    for cause, names in teams.items():
        yield f"no job of {some(names)} starts: {cause}"


def maintenances(pool: PoolCapacity) -> Iterator[str]:
    """Yield what is out of use until when, and what each team lacks meanwhile."""
    for window in pool.maintenance:
        yield f"out of use: {window.display}"
    for part in pool.parts:
        if part.withheld:
            whole = unit(pool, pool.units(part.own + part.withheld))
            lacks = pool.units(part.withheld)
            yield f"{part.team} lacks {lacks} of its {whole} until then; larger jobs wait"


def borrowers(capacity: Capacity) -> Iterator[tuple[PoolCapacity, Part]]:
    """Yield each team that has a borrowing limit, on each pool."""
    for pool in capacity.pools:
        for part in pool.parts:
            if part.borrow:
                yield pool, part
