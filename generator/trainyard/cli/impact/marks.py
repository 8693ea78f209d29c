"""What happens to an object, and the mark of a line that says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
