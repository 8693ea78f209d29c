"""The block of a CODEOWNERS file that Trainyard writes; the lines around it stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trainyard.codeowners.entries import Entry
from trainyard.diagnostics import TreeError

BEGIN = "# begin of what `trainyard codeowners` writes from the profiles"
END = "# end of what `trainyard codeowners` writes"
_MARKS = (BEGIN, END)
_WILDCARD = re.compile(r"[*?\[\\]")


def block(entries: Iterable[Entry]) -> str:
    """Return the block: one line for each entry, between two marks."""
    lines = (" ".join((entry.pattern, *entry.owners)) for entry in entries)
    return "\n".join((BEGIN, *lines, END, ""))


def replaced(text: str, new: str) -> str:
    """Return a file's text with its block replaced, or with a block at its end if it has none.

    Raises:
        TreeError: the marks are not one begin and one end after it.
    """
    lines = text.split("\n")
    span = _span(lines)
    if span is not None:
        begin, end = span
        return "\n".join((*lines[:begin], new.rstrip("\n"), *lines[end + 1 :]))
    above = f"{text.rstrip()}\n\n" if text.strip() else ""
    return f"{above}{new}"


def without(text: str) -> str:
    """Return a file's text without its block.

    Raises:
        TreeError: as `replaced` does.
    """
    lines = text.split("\n")
    begin, end = _span(lines) or (0, -1)
    return "\n".join((*lines[:begin], *lines[end + 1 :]))


def overriding(text: str) -> Iterator[tuple[int, str]]:
    """Yield the number and pattern of each line after the block that may match the block's files.

    The last match wins, so such a line takes files from the owners that the profiles state. A
    pattern that begins with another folder than every pattern of the block matches none of them.

    Args:
        text: of a file with a block.

    Raises:
        TreeError: as `replaced` does.
    """
    lines = text.split("\n")
    begin, end = _span(lines) or (len(lines), len(lines))
    heads = {_head(_pattern(line)) for line in lines[begin + 1 : end]}
    for number, line in enumerate(lines[end + 1 :], start=end + 2):
        pattern = _pattern(line)
        if pattern and _may_meet(_head(pattern), heads):
            yield number, pattern


def _pattern(line: str) -> str:
    """Return the pattern of a line; empty for a comment or the heading of a section."""
    pattern = line.partition("#")[0].strip().partition(" ")[0]
    return "" if pattern.startswith(("[", "^[")) else pattern


def _span(lines: list[str]) -> tuple[int, int] | None:
    """Return the indexes of both marks; None when there is none."""
    marks = [(index, line.rstrip()) for index, line in enumerate(lines) if line.rstrip() in _MARKS]
    if not marks:
        return None
    if [mark for _, mark in marks] != [BEGIN, END]:
        raise TreeError(
            f"CODEOWNERS needs one line `{BEGIN}` and one line `{END}` after it, or neither; "
            "remove both and what is between them"
        )
    return marks[0][0], marks[1][0]


def _head(pattern: str) -> str:
    """Return the text that every path which matches begins with; empty when it may begin anyhow."""
    if "/" not in pattern.rstrip("/"):
        return ""
    if _WILDCARD.search(pattern):
        return _WILDCARD.split(pattern.lstrip("/"))[0]
    return f"{pattern.strip('/')}/"


def _may_meet(head: str, heads: Iterable[str]) -> bool:
    return any(head.startswith(other) or other.startswith(head) for other in heads)
