"""Rules on numbers and user ids: who was given one keeps it, and nobody else gets it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.change.history.replacement import Replacement
from trainyard.diagnostics import Diagnostic, Note, Pointer
from trainyard.model.holding import Holding, of_others
from trainyard.model.identity import Identity, team_of
from trainyard.model.ids import UIDS, Ids, ids_of
from trainyard.model.manifest import Manifest
from trainyard.rules.change._fixes import NEVER_MERGED
from trainyard.rules.change.allocation_given_away import RULE as ALLOCATION_GIVEN_AWAY
from trainyard.rules.change.allocation_moved import RULE as ALLOCATION_MOVED
from trainyard.rules.change.uids_given_away import RULE as UIDS_GIVEN_AWAY
from trainyard.rules.change.uids_moved import RULE as UIDS_MOVED


def add_line(section: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return the hint on a line that is gone."""
    return (
        f"Add `{name}: {json.dumps(entry)}` to `{section}` in profiles/allocations.yaml; a retired "
        f"team keeps its line. {NEVER_MERGED}"
    )


def allocation_moved(replacement: Replacement) -> Iterator[Diagnostic]:
    """Find teams whose line is gone, or has other numbers while their jobs may run."""
    ledger = {(each.fabric, each.team): each for each in replacement.ledger}
    fabrics = {fabric.name for fabric in replacement.site.cluster.rail_fabrics}
    running = replacement.running
    for held in replacement.holdings:
        if not held.former and held.fabric in fabrics:
            now = ledger.get((held.fabric, held.team))
            yield from _line_moved(replacement, held, now, may_run=held.team in running)


def _line_moved(
    replacement: Replacement, held: Holding, now: Holding | None, *, may_run: bool
) -> Iterator[Diagnostic]:
    """Yield that a team's line is gone, or has other numbers while its jobs may run."""
    if now is None:
        yield _line_gone(replacement, held)
    elif may_run:
        for field, number in _moves(held, now):
            message = f"{_had(replacement, held)}, and would get {number}"
            yield ALLOCATION_MOVED.at(_line_of(replacement, held) / field, message)


def _line_gone(replacement: Replacement, held: Holding) -> Diagnostic:
    message = f"{_had(replacement, held)}, and its line in the ledger is gone"
    hint = add_line(f"{replacement.site.name}.{held.fabric}", held.team, held.entry)
    return ALLOCATION_MOVED.at(_line_of(replacement, held), message, hint=hint)


def _had(replacement: Replacement, held: Holding) -> str:
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
                yield from _number_given_away(replacement, held, new)


def _number_given_away(
    replacement: Replacement, held: Holding, new: Holding
) -> Iterator[Diagnostic]:
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
    at = _line_of(replacement, new) / next(iter(shared))
    yield ALLOCATION_GIVEN_AWAY.at(at, message, notes=[note])


def _same_network(replacement: Replacement, held: Holding, new: Holding) -> bool:
    """Return whether two numbers are of one network; a fabric that is gone may have a new name."""
    gone = held.fabric not in {fabric.name for fabric in replacement.site.cluster.rail_fabrics}
    return held.fabric == new.fabric or (gone and held.field == new.field)


def _where(replacement: Replacement, holding: Holding) -> str:
    return f"fabric `{holding.fabric}` of cluster `{replacement.site.name}`"


def _line_of(replacement: Replacement, holding: Holding) -> Pointer:
    return (
        replacement.platform.allocations_at / replacement.site.name / holding.fabric / holding.team
    )


def _has_ranges(replacement: Replacement) -> bool:
    """Return whether namespaces have ranges of user ids: only OpenShift gives them.

    Elsewhere the ledger may have none (`isolation/uids-without-ranges`), and pods run with the ids
    of their runtime.
    """
    return bool(replacement.site.cluster.release.job_scc)


def uids_gone(replacement: Replacement) -> Iterator[Diagnostic]:
    """Find namespaces whose line is gone, whatever the state of their team."""
    if not _has_ranges(replacement):
        return
    for held in _ids_gone(replacement):
        message = (
            f"namespace `{held.namespace}` of cluster `{replacement.site.name}` was given "
            f"{_described((held.range, held.level))}, and its line in the ledger is gone"
        )
        hint = add_line(f"{replacement.site.name}.{UIDS}", held.namespace, held.entry)
        yield UIDS_MOVED.at(_line_of_namespace(replacement, held.namespace), message, hint=hint)


def _ids_gone(replacement: Replacement) -> list[Ids]:
    """Return the remembered ids, not former ones, of namespaces without a line."""
    now = {ids.namespace for ids in _ledger(replacement)}
    return [held for held in replacement.ids if not held.former and held.namespace not in now]


def uids_moved(replacement: Replacement) -> Iterator[Diagnostic]:
    """Compare the annotations of namespaces that stay, while their team's jobs may run."""
    for before, new in _given_others(replacement) if _has_ranges(replacement) else ():
        message = (
            f"namespace `{new.name}` of cluster `{replacement.site.name}` has "
            f"{_described(before)}, and would get {_described(_annotated(new))}"
        )
        yield UIDS_MOVED.at(_line_of_namespace(replacement, new.name), message)


def _given_others(replacement: Replacement) -> Iterator[tuple[tuple[str, ...], Manifest]]:
    """Yield the ids of each namespace in use that would get others, and the new namespace."""
    now = {ids.namespace: ids for ids in _ledger(replacement)}
    gone = {held.namespace for held in _ids_gone(replacement)}
    for old, new in replacement.pairs("Namespace"):
        before, after = _annotated(old), _annotated(new)
        moved = before != after and not _is_adopted(before, now.get(new.name))
        if moved and new.name not in gone and team_of(old) in replacement.running:
            yield before, new


def _is_adopted(before: tuple[str, ...], ids: Ids | None) -> bool:
    """Return whether a line has what OpenShift may have given to a namespace."""
    return not before and ids is not None and ids.is_of_openshift


def uids_left_behind(replacement: Replacement) -> Iterator[Diagnostic]:
    """Find namespaces with files that are renamed without the user ids that own the files."""
    if not _has_ranges(replacement):
        return
    without = _without_ids(replacement).difference(
        held.namespace for held in _ids_gone(replacement)
    )
    for old, new in replacement.moved.items():
        if new in without:
            yield from _left_behind(replacement, old, new)


def _without_ids(replacement: Replacement) -> set[str]:
    """Return the namespaces that have files, and no ids of the ledger."""
    without = set()
    for tenant in replacement.site.tenants:
        for space in tenant.spaces:
            if space.claims and not space.ids:
                without.add(space.namespace)
    return without


def _left_behind(replacement: Replacement, old: str, new: str) -> Iterator[Diagnostic]:
    """Yield that a new namespace would get other ids than the committed one has."""
    was = replacement.before.get(Identity("Namespace", "", old))
    if was is None:
        return
    site = replacement.site.name
    message = (
        f"namespace `{new}` of cluster `{site}` would get new ids from OpenShift, and the files of "
        f"`{old}` belong to {_described(_annotated(was))}"
    )
    hint = ""
    if any(ids.namespace == old for ids in _ledger(replacement)):
        hint = (
            f"Rename the line `{old}` of `{site}.{UIDS}` in profiles/allocations.yaml to `{new}`."
        )
    yield UIDS_MOVED.at(_line_of_namespace(replacement, new), message, hint=hint)


def _described(ids: tuple[str, ...]) -> str:
    return f"ids {ids[0]} and level {ids[-1]}" if ids else "ids from OpenShift"


def uids_given_away(replacement: Replacement) -> Iterator[Diagnostic]:
    """Compare each line that is new or changed with the ids that other namespaces ever had."""
    kept = {held.number for held in replacement.ids if not held.former}
    for new in _ledger(replacement):
        if new.number not in kept:
            for held in of_others(replacement.ids, new):
                yield from _ids_given_away(replacement, held, new)


def _ids_given_away(replacement: Replacement, held: Ids, new: Ids) -> Iterator[Diagnostic]:
    """Yield that a namespace would get ids that another one had."""
    shared = [field for field, mark in new.marks.items() if held.marks[field] == mark]
    if not shared:
        return
    ids = " and ".join(f"{field} {getattr(new, field)}" for field in shared)
    message = (
        f"namespace `{new.namespace}` would get {ids}, which namespace `{held.namespace}` was given"
    )
    since = f" on {held.since}" if held.since else ""
    note = Note(f"the lockfile remembers that `{held.namespace}` was given {held.range}{since}")
    at = _line_of_namespace(replacement, new.namespace) / shared[0]
    yield UIDS_GIVEN_AWAY.at(at, message, notes=[note])


def _ledger(replacement: Replacement) -> tuple[Ids, ...]:
    return replacement.platform.ids.get(replacement.site.name, ())


def _annotated(namespace: Manifest) -> tuple[str, ...]:
    return ids_of(namespace.body["metadata"].get("annotations", {}))


def _line_of_namespace(replacement: Replacement, namespace: str) -> Pointer:
    return replacement.platform.allocations_at / replacement.site.name / UIDS / namespace
