"""A release, and the difference of two, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.change.releases import (
    Change,
    Comparison,
    Fault,
    KindChange,
    faults_of,
    schemas_by_kind,
)
from trainyard.model.release import Release

_SHOWN = 12
"""Fields of a kind that are shown; JSON has all."""


def release_text(release: Release) -> str:
    """Return all that a release pins."""
    own = (
        f"; {len(release.schemas.own)} differ from {release.schemas.base}" if release.digest else ""
    )
    lines = [
        f"release {release.identity}",
        f"tested: {release.tested}",
        "versions:",
        *(f"  {name} {version}" for name, version in release.versions.items()),
        f"SDK: {release.sdk}",
        f"features: {', '.join(sorted(release.features))}",
        f"queues: at most {release.most_flavors} flavors and {release.most_resources} resources",
        f"kinds: {len(schemas_by_kind(release))} with a schema{own}",
        *_faults("known to fail:", faults_of(release, release.versions)),
    ]
    return "\n".join(lines)


def _faults(head: str, faults: Iterable[Fault]) -> Iterator[str]:
    rows = [f"  {_pair(fault)}: {fault.consequence}" for fault in faults]
    if rows:
        yield head
        yield from rows


def _pair(fault: Fault) -> str:
    return " with ".join(f"{name} {version}" for name, version in fault.versions.items())


def comparison_text(before: Release, after: Release, found: Comparison) -> str:
    """Return what differs between two releases; one line if nothing does."""
    lines = [
        *_part("versions", map(_change, found.versions)),
        *_part("features", map(_feature, found.features)),
        *_part("values", map(_change, found.fields)),
        *_part("what versions changed", (f"{at}: {what}" for at, what in found.changes.items())),
        *_part("kinds", (f"+ {name}" for name in found.new_kinds)),
        *_part("kinds that are gone", (f"- {name}" for name in found.lost_kinds)),
    ]
    for kind in found.kinds:
        lines += _part(kind.name, _fields(kind))
    for step in found.steps:
        head = f"known to fail: {step.component} {step.version} before the others are upgraded:"
        lines += _faults(head, step.faults)
    if not lines:
        return f"{before.name} and {after.name} do not differ"
    return "\n".join([f"from {before.identity} to {after.identity}", *lines])


def _part(head: str, rows: Iterable[str]) -> Iterator[str]:
    shown = [f"  {row}" for row in rows]
    if shown:
        yield f"{head}:"
        yield from shown


def _change(change: Change) -> str:
    return change.display


def _feature(change: Change) -> str:
    return f"{'+' if change.after else '-'} {change.name}"


def _fields(kind: KindChange) -> Iterator[str]:
    rows = [
        *(f"+ {path}" for path in kind.gained),
        *(f"- {path}" for path in kind.lost),
        *(f"~ {path}" for path in kind.changed),
    ]
    yield from rows[:_SHOWN]
    if len(rows) > _SHOWN:
        yield f"and {len(rows) - _SHOWN} more fields"
