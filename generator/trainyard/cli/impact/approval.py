"""Describe who approves a change, by the owners that its base states."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from trainyard.change.diff import Diff
from trainyard.cli.impact.marks import with_parts
from trainyard.cli.impact.sections import Section

TITLE = "Approval"
_INLINE = 3
"""Files that are named in one line; more have a line each."""


def approval(diff: Diff) -> Section | None:
    """Return who approves which files, and what of it the change itself edits; None for nothing.

    The owners are the base's: a change can't choose its own.
    """
    lines = (*_decides(diff), *_owners(diff))
    return Section(TITLE, lines) if lines else None


def _decides(diff: Diff) -> Iterator[str]:
    for approval in diff.approvals:
        owners = " or ".join(approval.owners) or "nobody that the base states"
        for field in approval.decides:
            yield f"! {approval.file}: {field.path} {field.excerpt}"
            yield f"  to be approved by {owners}"


def _owners(diff: Diff) -> Iterator[str]:
    """Yield the files by their owners; nothing when the base states none at all."""
    files: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for approval in diff.approvals:
        files[approval.owners].append(approval.file)
    for owners, own in sorted(files.items()) if any(files) else ():
        named = f"~ {' or '.join(owners) or 'nobody'}:"
        if len(own) <= _INLINE:
            yield f"{named} {', '.join(own)}"
        else:
            yield from with_parts(named, own)
