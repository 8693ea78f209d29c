"""Take a template apart: the YAML that never changes, and the Jinja in it.

Jinja's own parser reads the template; nothing here searches text for braces. From its syntax tree
comes the *skeleton*: the same text, line for line, where each ``{{ path }}`` is a mark (a plain
YAML word) and each line of a statement or comment is a YAML comment. A mark contains ``{{``, which
no text of a template can, so it collides with nothing. The skeleton also has, for each of its
lines, the *chain* of statements that the line lies in, outermost first. That is all ``grammar``
needs to refuse a template and ``compile`` to build objects from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from jinja2 import Environment, nodes

from trainyard.yaml_io.template_tree import Node

Chain = tuple[tuple[int, bool], ...]
"""The branches that a line lies in: line of each statement, and whether in its body or in its
``else``."""

SYNTAX = Environment(
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,  # noqa: S701 - YAML, not HTML
)
"""Parser of templates; it never renders anything."""


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The YAML, marks and statements of a template by line.

    Args:
        name: of the template, for messages.
        source: the template, split into lines.
        slots: expression of each mark.
        chains: of each line that holds YAML and lies in a statement.
        statements: by the line that they begin on.
        written: the YAML of each line that has any.
    """

    name: str
    source: Sequence[str]
    slots: dict[str, nodes.Expr] = field(default_factory=dict)
    chains: dict[int, Chain] = field(default_factory=dict)
    statements: dict[int, nodes.For | nodes.If] = field(default_factory=dict)
    written: dict[int, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The YAML to compose: as many lines as the template."""
        return "\n".join(
            self.written.get(line)
            or (raw and f"#{raw}")  # a blank line stays blank: it may be part of a block scalar
            for line, raw in enumerate(self.source, 1)
        )

    def chain(self, line: int) -> Chain:
        """Return the statements around a line."""
        return self.chains.get(line, ())

    def where(self, line: int) -> str:
        """Return ``name:line: text`` for messages."""
        return f"{self.name}:{line}: {self.source[line - 1].strip()}"


@dataclass(frozen=True, slots=True)
class Part:
    """An entry of a mapping, or an item of a sequence without key, and the statements around it."""

    key: str | None
    node: Node
    line: int
    chain: Chain


def take_apart(text: str, tree: nodes.Template, name: str) -> Skeleton:
    """Return the skeleton of a template whose lines and statements keep to the grammar."""
    skeleton = Skeleton(name, text.split("\n"))
    marks = (f"_{{{{{number}}}}}" for number in count())
    for leaf, chain in _leaves(tree.body, (), skeleton.statements):
        if isinstance(leaf, nodes.TemplateData):
            pieces = leaf.data.split("\n")
        else:
            pieces = [next(marks)]
            skeleton.slots[pieces[0]] = leaf
        for line, piece in enumerate(pieces, leaf.lineno):
            skeleton.written[line] = skeleton.written.get(line, "") + piece
            if chain and piece:
                skeleton.chains[line] = chain
    return skeleton


def parts(skeleton: Skeleton, node: Node) -> list[Part]:
    """Return the content of a mapping or sequence in order, with all branches of all statements."""
    entries = [
        Part(entry.key, entry.value, entry.line, skeleton.chain(entry.line))
        for entry in node.entries
    ]
    return entries or [
        Part(None, item, item.line, skeleton.chain(item.line)) for item in node.items
    ]


def _leaves(
    body: Sequence[nodes.Node], chain: Chain, statements: dict[int, nodes.For | nodes.If]
) -> Iterator[tuple[nodes.Expr, Chain]]:
    """Yield text and expressions in the template's order, and add each statement to a mapping."""
    for node in body:
        if isinstance(node, nodes.Output):
            for leaf in node.nodes:
                yield leaf, chain
        else:
            assert isinstance(node, nodes.For | nodes.If), "the grammar lets nothing else through"
            statements[node.lineno] = node
            yield from _leaves(node.body, (*chain, (node.lineno, True)), statements)
            otherwise = (*chain, (node.lineno, False))
            for other in getattr(node, "elif_", ()):
                statements[other.lineno] = other
                yield from _leaves(other.body, (*otherwise, (other.lineno, True)), statements)
                otherwise = (*otherwise, (other.lineno, False))
            yield from _leaves(node.else_, otherwise, statements)
