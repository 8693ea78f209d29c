"""The section with what a change does, in the words of `trainyard diff`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import starmap

from htpy import Element, Node, div, h3, h4, li, p, ul

from trainyard.report.content import Change, Content, Group
from trainyard.report.elements import badge, note, part, prose

_MARKS = {
    "+": ("fine", "added"),
    "-": ("bad", "removed"),
    "~": ("warned", "changed"),
    "!": ("bad", "disturbs"),
}
"""Mark at the begin of a line -> class and word of its badge."""
_OPENED = frozenset({"Access", "Network"})
"""Headings below which what is added is a risk: a right, or an opened path."""


def change(content: Content) -> Element:
    """Return the section of a report with a change."""
    assert content.change
    return part("change", "What the change does", _body(content.change))


def _body(found: Change) -> Iterator[Node]:
    yield p[prose(found.totals)] if found.totals else None
    yield from map(_group, found.groups)
    for words in found.notes:
        yield note(prose(words))


def _group(group: Group) -> Node:
    return [h3[group.title], starmap(_section, group.parts)]


def _section(title: str, lines: tuple[str, ...]) -> Node:
    return [h4[title], ul(".lines")[map(partial(_item, title), _items(lines))]]


def _items(lines: Iterable[str]) -> list[list[str]]:
    """Return each line with those that explain it, which begin with a space."""
    items: list[list[str]] = []
    for line in lines:
        if line.startswith(" ") and items:
            items[-1].append(line.strip())
        else:
            items.append([line])
    return items


def _item(title: str, lines: list[str]) -> Element:
    first, *others = lines
    mark, _, words = first.partition(" ")
    kind, word = _MARKS.get(mark, ("warned", "changed"))
    kind = "warned" if mark == "+" and title in _OPENED else kind
    return li[
        div[badge(kind, word)], div[p[prose(words.strip())], (p[prose(other)] for other in others)]
    ]
