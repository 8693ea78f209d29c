"""Read a template's YAML into a tree that keeps the order, duplicate keys and lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trainyard.yaml_io.composer import Composer, Path
from trainyard.yaml_io.events import Event, StreamError, line_of
from trainyard.yaml_io.scalars import resolve_agreed
from trainyard.yaml_io.source import Plain


@dataclass(frozen=True, slots=True)
class Node:
    """A value of the tree.

    Args:
        kind: which of the following holds its content.
        line: where it begins, 1-based.
        value: of a scalar, resolved to plain data.
        entries: of a mapping, in order, duplicates kept.
        items: of a sequence.
    """

    kind: Literal["mapping", "sequence", "scalar"]
    line: int
    value: Plain = None
    entries: tuple[Pair, ...] = ()
    items: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A key of a mapping, as its text, with its line (1-based) and its value."""

    key: str
    line: int
    value: Node


def read_template_tree(text: str) -> Node:
    """Return the tree of a YAML text of one document; comments are dropped.

    Raises:
        ValueError: no YAML, not one document, an alias, a tag, a key that is not a scalar, or a
            plain scalar on which YAML readers disagree; the message begins with the line.
    """
    tree = _Tree(text)
    roots = [tree.node(root, ()) for root in tree.roots()]
    if len(roots) != 1:
        line = roots[1].line if roots else 1
        raise ValueError(f"line {line}: {len(roots)} documents where one belongs")
    return roots[0]


class _Tree(Composer[Node]):
    """Builds the nodes of a template."""

    def node(self, event: Event, path: Path) -> Node:
        if event.anchor:
            raise StreamError(event.start_mark, "an anchor or alias")
        return super().node(event, path)

    def scalar(self, event: Event) -> Node:
        try:
            value = resolve_agreed(event.value) if event.implicit[0] else event.value
        except ValueError as error:
            raise StreamError(event.start_mark, f"{error}; quote it") from error
        return Node("scalar", line_of(event), value)

    def sequence(self, event: Event, path: Path) -> Node:
        return Node("sequence", line_of(event), items=tuple(self.items(path)))

    def mapping(self, event: Event, path: Path) -> Node:
        pairs = (Pair(key.value, line_of(key), self.value(path)) for key in self.keys())
        return Node("mapping", line_of(event), entries=tuple(pairs))
