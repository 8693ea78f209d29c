"""The marks of lines that say what happens, the names in them, and the lines below them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

Names: TypeAlias = Callable[[Iterable[str]], str]
"""Returns names as part of a line: the first of them, or every one; empty for none."""

every: Names = ", ".join

MARKS = {
    "created": "+",
    "changed": "~",
    "recreated": "!",
    "deleted": "-",
    "left behind": "-",
}
"""What happens to an object, in the order of reports, and the mark of a line that says so."""


def signed(added: Iterable[str], removed: Iterable[str]) -> Iterator[str]:
    """Yield a line for each that is added, then for each that is removed."""
    for words in added:
        yield f"+ {words}"
    for words in removed:
        yield f"- {words}"


def with_parts(what: str, parts: Sequence[str]) -> Iterator[str]:
    """Yield a line with its only part, or with a line below it for each of several."""
    if len(parts) == 1:
        yield f"{what}: {parts[0]}"
        return
    yield what
    for part in parts:
        yield f"  {part}"
