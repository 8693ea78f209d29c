"""Rules on numbers: a team keeps its own, and no other team gets them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.change.history.ledger import add_line
from trainyard.change.history.replacement import Replacement
from trainyard.diagnostics import Diagnostic, Note, Pointer
from trainyard.model.holding import Holding, of_others
from trainyard.rules.change.allocation_given_away import RULE as ALLOCATION_GIVEN_AWAY
from trainyard.rules.change.allocation_moved import RULE as ALLOCATION_MOVED


def allocation_moved(replacement: Replacement) -> Iterator[Diagnostic]:
    """Find teams whose line is gone, or has other numbers while their jobs may run."""
    ledger = {(each.fabric, each.team): each for each in replacement.ledger}
    fabrics = {fabric.name for fabric in replacement.site.cluster.rail_fabrics}
    running = replacement.running
    for held in replacement.holdings:
        if not held.former and held.fabric in fabrics:
            now = ledger.get((held.fabric, held.team))
            yield from _moved(replacement, held, now, may_run=held.team in running)


def _moved(
    replacement: Replacement, held: Holding, now: Holding | None, *, may_run: bool
) -> Iterator[Diagnostic]:
    """Yield that a team's line is gone, or has other numbers while its jobs may run."""
    if now is None:
        yield _gone(replacement, held)
    elif may_run:
        for field, number in _moves(held, now):
            message = f"{_has(replacement, held)}, and would get {number}"
            yield ALLOCATION_MOVED.at(_line(replacement, held) / field, message)


def _gone(replacement: Replacement, held: Holding) -> Diagnostic:
    message = f"{_has(replacement, held)}, and its line in the ledger is gone"
    hint = add_line(f"{replacement.site.name}.{held.fabric}", held.team, held.entry)
    return ALLOCATION_MOVED.at(_line(replacement, held), message, hint=hint)


def _has(replacement: Replacement, held: Holding) -> str:
    numbers = f"{held.display} with {held.addresses}"
    return f"team {held.team} has {numbers} on {_where(replacement, held)}"


def _moves(held: Holding, now: Holding) -> Iterator[tuple[str, str]]:
    """Yield each field of a line that changes, and its new value.

    A larger block around the old one does not count: pods keep their addresses.
    """
    if (now.field, now.segment) != (held.field, held.segment):
        yield now.field, now.display
    if not held.addresses.subnet_of(now.addresses):
        yield "addresses", str(now.addresses)


def allocation_given_away(replacement: Replacement) -> Iterator[Diagnostic]:
    """Compare each line that is new or changed with the numbers that other teams ever had."""
    kept = {held.number for held in replacement.holdings if not held.former}
    for new in replacement.ledger:
        if new.number not in kept:
            for held in of_others(replacement.holdings, new):
                yield from _given_away(replacement, held, new)


def _given_away(replacement: Replacement, held: Holding, new: Holding) -> Iterator[Diagnostic]:
    if not _same_network(replacement, held, new):
        return
    shared: dict[str, str] = {}
    if (held.field, held.segment) == (new.field, new.segment):
        shared[new.field] = new.display
    if held.addresses.overlaps(new.addresses):
        shared["addresses"] = f"addresses {new.addresses}"
    if not shared:
        return
    numbers = " and ".join(shared.values())
    message = (
        f"team {new.team} would get {numbers} on {_where(replacement, new)}, which team "
        f"{held.team} was given"
    )
    since = f" on {held.since}" if held.since else ""
    note = Note(
        f"the lockfile remembers that team {held.team} was given {held.display} with "
        f"{held.addresses}{since}"
    )
    at = _line(replacement, new) / next(iter(shared))
    yield ALLOCATION_GIVEN_AWAY.at(at, message, notes=[note])


def _same_network(replacement: Replacement, held: Holding, new: Holding) -> bool:
    """Return whether two numbers are of one network; a fabric that is gone may have a new name."""
    gone = held.fabric not in {fabric.name for fabric in replacement.site.cluster.rail_fabrics}
    return held.fabric == new.fabric or (gone and held.field == new.field)


def _where(replacement: Replacement, holding: Holding) -> str:
    return f"fabric `{holding.fabric}` of cluster `{replacement.site.name}`"


def _line(replacement: Replacement, holding: Holding) -> Pointer:
    return (
        replacement.platform.allocations_at / replacement.site.name / holding.fabric / holding.team
    )
