"""HTML elements that several sections of the page share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from htpy import (
    Element,
    Node,
    caption,
    code,
    dd,
    div,
    dl,
    dt,
    h2,
    li,
    p,
    section,
    span,
    table,
    tbody,
    td,
    th,
    thead,
    tr,
    ul,
)

MANY = 12
"""Rows of a table that are shown at once; a longer one gets a filter."""


def part(name: str, heading: str, *content: Node) -> Element:
    """Return a section of the page, which the navigation links by its name."""
    return section(id=name, aria_labelledby=f"{name}-heading")[
        h2(id=f"{name}-heading")[heading], content
    ]


def grid(about: str, head: Sequence[str], rows: Iterable[Sequence[Node]]) -> Element:
    """Return a table in a box that scrolls by itself; a script makes it sortable.

    Args:
        about: its caption.
        head: names of the columns; one that begins with ``#`` has numbers.
        rows: contents of cells; the first cell is the header of its row.
    """
    numeric = [name.startswith("#") for name in head]
    lines = [_row(row, numeric) for row in rows]
    return box(about)[
        table(".grid", {"data-filter": "rows"} if len(lines) > MANY else {})[
            caption[about],
            thead[
                tr[
                    (
                        th(class_={"n": right}, scope="col")[name.removeprefix("#")]
                        for name, right in zip(head, numeric, strict=True)
                    )
                ]
            ],
            tbody[lines],
        ]
    ]


def _row(cells: Sequence[Node], numeric: Sequence[bool]) -> Element:
    first, *others = cells
    return tr[
        th(scope="row")[first],
        (td(class_={"n": right})[cell] for cell, right in zip(others, numeric[1:], strict=True)),
    ]


def prose(words: str) -> list[Node]:
    """Return a sentence in which what is between backticks is code."""
    parts = words.split("`")
    if len(parts) % 2 == 0:
        return [words]
    return [code[each] if i % 2 else each for i, each in enumerate(parts) if each]


def items(lines: Iterable[Node], kind: str = "") -> Element:
    """Return a list; its class is the kind."""
    return (ul(class_=kind) if kind else ul)[map(_item, lines)]


def _item(line: Node) -> Element:
    return li[line]


def terms(pairs: Iterable[tuple[str, Node]], kind: str = "") -> Element:
    """Return a list of names with values."""
    return (dl(class_=kind) if kind else dl)[(div[dt[name], dd[value]] for name, value in pairs)]


def columns(heads: Iterable[Node]) -> Element:
    """Return the head of a table whose cells are all the heads of columns."""
    return thead[tr[(th(scope="col")[head] for head in heads)]]


def box(about: str) -> Element:
    """Return a box that scrolls by itself, for one table."""
    return div(".scroll", tabindex="0", role="region", aria_label=about)


def note(*content: Node) -> Element:
    """Return a remark."""
    return p(".note")[content]


def badge(kind: str, words: str) -> Element:
    """Return words in a frame; its colour only repeats what they say."""
    return span(f".badge.{kind}")[words]
