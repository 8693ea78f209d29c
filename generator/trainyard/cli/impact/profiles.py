"""Describe what a change edits in the profiles, whatever becomes of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from trainyard.change.review import Approval
from trainyard.cli.impact.marks import MARKS, with_parts
from trainyard.cli.impact.sections import Section
from trainyard.model.differences import Difference, few

TITLE = "Profiles"
_PROFILES = "profiles/"


def profiles(approvals: Sequence[Approval]) -> Section | None:
    """Return each edit of a profile with both values, the same one of several files once."""
    lines = (*_whole(approvals), *_edits(approvals))
    return Section(TITLE, lines) if lines else None


def _whole(approvals: Sequence[Approval]) -> Iterator[str]:
    """Yield the profiles that come or go."""
    for each in approvals:
        if each.change != "changed":
            yield f"{MARKS[each.change]} {each.file} is {each.change}"


def _edits(approvals: Sequence[Approval]) -> Iterator[str]:
    files: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for approval in approvals:
        if approval.edits:
            edits = tuple(map(_edit, approval.edits))
            files[edits].append(approval.file.removeprefix(_PROFILES))
    for edits, own in files.items():
        yield from with_parts(f"~ {few(own)}", edits)


def _edit(edit: Difference) -> str:
    return f"{edit.path} {edit.excerpt}"
