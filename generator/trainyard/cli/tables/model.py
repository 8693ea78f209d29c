"""Pages of figures: what text and Markdown have in common, and where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

TEXT, MARKDOWN = range(2)
Head = str | tuple[str | None, str | None]
"""Head of a column; a pair if it differs in text and Markdown, None in a form that lacks it."""


class Name(str):
    """Name of a profile or resource, which Markdown shows as code."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose numbers are on the right.

    Args:
        heads: of each column. Text has its first two on the left.
        rows: cells of all columns.
        total: last row of text, which Markdown lacks.
        second: widest that the second column of text may be.
        note: line below it in text.
    """

    heads: Sequence[Head]
    rows: Sequence[Sequence[object]]
    total: Sequence[object] = ()
    second: int = 16
    note: str = ""

    def shown(self, form: int) -> dict[int, str]:
        """Return the head of each column that a form has, by the number of the column."""
        shown = {}
        for number, stated in enumerate(self.heads):
            head = stated if isinstance(stated, str) else stated[form]
            if head is not None:
                shown[number] = head
        return shown


@dataclass(frozen=True, slots=True)
class Item:
    """A line of a list: its words, and how deep it is below the first."""

    words: Sequence[str]
    depth: int = 0


Block = Table | str | Sequence[Item]
"""A table, a sentence without its capital letter and full stop, or a list."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page, e.g. a pool.

    Args:
        title: what it is, e.g. ``pool``.
        figures: that stand beside the name.
        wraps: the name is whole in text, whose first line then may become several.
    """

    title: str
    name: str = ""
    figures: str = ""
    blocks: Sequence[Block] = ()
    wraps: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """A cluster.

    Args:
        end: last sentence; empty for none.
    """

    cluster: str
    parts: Sequence[Part]
    end: str = ""
