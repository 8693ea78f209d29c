"""What somebody changed on a cluster by hand, as text and JSON, in the lines of `diff`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from trainyard.change.drift.compare import Drift, Part
from trainyard.change.impact.model import Impact
from trainyard.change.impact.objects import ObjectChange
from trainyard.cli.impact.notices import notices
from trainyard.cli.impact.sections import sections
from trainyard.cli.impact.text import section_lines
from trainyard.model.differences import few
from trainyard.model.quantity import counted

_WORDS = {"changed": "changed", "deleted": "missing", "created": "added"}
"""What became of an object in words: one that was never synced was not deleted by anybody."""
_UNSYNCED = (
    "no object is of the tree, so it was never synced here. Read the signs from the tree to the "
    "cluster: `-` and missing is what the first sync makes, `+` and added what is there now"
)


def drift_document(found: Drift) -> dict[str, Any]:
    """Return what differs as JSON; ``trainyard schema drift`` prints its schema."""
    return {
        "cluster": found.cluster,
        "objects": found.objects,
        "differing": found.differing,
        "leftOut": found.left_out,
        "parts": found.parts,
    }


def drift_lines(found: Drift, *, fields: bool) -> Iterator[str]:
    """Yield the worst first, then what differs of the platform and of each team.

    Args:
        found: what differs.
        fields: each field that differs, of each object.
    """
    if found.parts and not found.is_synced:
        yield f"{found.cluster}: {_UNSYNCED}"
    yield _first(found)
    for part in found.parts:
        yield ""
        yield from _part(part, fields=fields)
    if found.left_out:
        kinds = few(sorted({each.kind for each in found.left_out}))
        objects = counted(len(found.left_out), "object")
        yield from ("", f"{objects} of hand-written components not compared: {kinds}")


def _first(found: Drift) -> str:
    """Return how many objects differ, and the worst that somebody did."""
    objects = counted(found.objects, "object")
    if not found.parts:
        return f"{found.cluster}: no difference in {objects} of the tree"
    every = [change for part in found.parts for change in part.impact.objects]
    impact = Impact(tuple(part.impact for part in found.parts))
    differing = f"{found.cluster}: {_counts(every)}, of {objects} of the tree"
    # Of a tree that was never synced nobody has closed or given anything.
    return "; ".join([differing, *(notices(impact) if found.is_synced else ())])


def _part(part: Part, *, fields: bool) -> Iterator[str]:
    yield f"{f'team {part.team}' if part.team else 'platform'}: {_counts(part.impact.objects)}"
    for section in sections(part.impact, fields=fields):
        yield from map("  {}".format, section_lines(section))


def _counts(changes: Iterable[ObjectChange]) -> str:
    """Return how many objects were changed, are missing or were added."""
    numbers = Counter(change.change for change in changes)
    return ", ".join(f"{numbers[word]} {words}" for word, words in _WORDS.items() if numbers[word])
