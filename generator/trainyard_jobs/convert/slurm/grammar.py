"""Parse shell scripts with the grammar that tree-sitter has of bash; nothing is run."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import accumulate

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.model import RefusedError

_PARSER = Parser(Language(tree_sitter_bash.language()))

Span = tuple[int, int]
"""Bytes of a script: where a part begins, and where it ends."""


class Source:
    """A script and its tree.

    Args:
        file: its name for messages.
        text: of the script, or of a part of it.
        line: number of its first line.
    """

    def __init__(self, file: str, text: str, line: int = 1) -> None:
        self._file, self._line = file, line
        self._bytes = f"{text}\n".encode()
        self._begins = [0, *accumulate(map(len, self._bytes.splitlines(keepends=True)))]
        self.root = _PARSER.parse(self._bytes).root_node

    def need_whole(self) -> None:
        """Refuse a script that bash or its grammar does not understand.

        Raises:
            RefusedError: at the first part that is not understood.
        """
        if not self.root.has_error:
            return
        node = self._first_fault()
        shown = self.text((node.start_byte, node.end_byte)).split("\n")[0]
        what = f"`{shown}`" if shown and not node.is_missing else "a part that does not end"
        raise RefusedError(self.place(node.start_byte), what, "it can't be read as a shell script")

    def _first_fault(self) -> Node:
        """Return the first part that the grammar does not understand.

        What is missing may be no part at all, as in ``$[]``: then it is the smallest around it.
        """
        every = list(nodes(self.root))
        wrong = (each for each in every if each.is_error or each.is_missing)
        return next(wrong, [each for each in every if each.has_error][-1])

    def text(self, span: Span) -> str:
        """Return a part of the script."""
        return self._bytes[span[0] : span[1]].decode()

    def place(self, at: int) -> Pointer:
        """Return the place of a byte."""
        number = bisect_right(self._begins, at)
        before = self.text((self._begins[number - 1], at))
        return Pointer(self._file, line=self._line + number - 1, column=len(before) + 1)

    def word(self, span: Span) -> str:
        """Return a word without the ends of lines that it goes on over."""
        text = self.text(span)
        if "\\\n" not in text:
            return text
        out, position = "", span[0]
        for quoted in self._quoted(span):
            out += self.text((position, quoted[0])).replace("\\\n", "") + self.text(quoted)
            position = quoted[1]
        return out + self.text((position, span[1])).replace("\\\n", "")

    def _quoted(self, span: Span) -> list[Span]:
        """Return the parts in single quotes within a part."""
        found = [span_of(node) for node in nodes(self.root) if node.type == "raw_string"]
        return [each for each in found if span[0] <= each[0] and each[1] <= span[1]]

    def words(self, children: Iterable[Node]) -> list[Span]:
        """Return words; what follows a node without a blank belongs to the same word.

        After an expansion, the grammar takes a blank with a backslash for one without.
        """
        spans: list[Span] = []
        for node in children:
            gap = self.text((spans[-1][1], node.start_byte)) if spans else " "
            if re.match(r"\\[ \t]", gap):
                spans[-1], gap = (spans[-1][0], spans[-1][1] + 2), gap[2:]
            if gap.replace("\\\n", ""):
                spans.append(span_of(node))
            else:
                spans[-1] = (spans[-1][0], node.end_byte)
        return [span for span in spans if self.word(span)]


def span_of(node: Node) -> Span:
    """Return the bytes of a part."""
    return node.start_byte, node.end_byte


def nodes(node: Node, apart: frozenset[str] = frozenset()) -> Iterator[Node]:
    """Yield a part and all parts of it, in their order.

    Args:
        node: the part.
        apart: types of parts that are left out with all that they have.
    """
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each.type not in apart:
            yield each
            waiting += reversed(each.children)


PLAIN, QUOTED, EXPANDED = "plain", "quoted", "expanded"
Piece = tuple[str, str, str]
"""A kind, what the script has, and what a program gets of it."""

_EXPANSIONS = frozenset(
    {
        *("simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"),
        *("process_substitution", "ansi_c_string", "translated_string"),
    }
)


@cache
def pieces(raw: str) -> tuple[Piece, ...]:
    """Return the pieces of a word: plain text, quoted text, and what the shell expands.

    What the grammar does not take for one word is left to the shell as a whole.
    """
    source = Source("", f": {raw}")
    found: list[Piece] = []
    if source.root.has_error or not source.root.children:
        return ((EXPANDED, raw, raw),)
    for node in source.root.children[0].children[1:]:
        found += _pieces(source, node)
    written = "".join(piece[1] for piece in found)
    return tuple(found) if written == raw else ((EXPANDED, raw, raw),)


def _pieces(source: Source, node: Node) -> Iterator[Piece]:
    text = source.text(span_of(node))
    if node.type in _EXPANSIONS or text == "$":
        yield EXPANDED, text, text
    elif node.type == "raw_string":
        yield QUOTED, text, text[1:-1]
    elif node.type == "string":
        yield from _of_double(source, node)
    elif node.child_count and node.type != "brace_expression":
        yield from _of_several(source, node)
    else:
        yield from _of_plain(text)


def _of_several(source: Source, node: Node) -> Iterator[Piece]:
    at = node.start_byte
    for child in node.children:
        if gap := source.text((at, child.start_byte)):
            yield from _of_plain(gap)
        yield from _pieces(source, child)
        at = child.end_byte


def _of_plain(text: str) -> Iterator[Piece]:
    """Yield text without quotes: a backslash quotes the next character."""
    first, *rest = text.split("\\", 1)
    if first:
        yield PLAIN, first, first
    if rest:
        yield QUOTED, f"\\{rest[0][:1]}", rest[0][:1]
        yield from _of_plain(rest[0][1:])


def _of_double(source: Source, node: Node) -> Iterator[Piece]:
    """Yield the pieces of a part in double quotes."""
    at = node.start_byte + 1
    yield QUOTED, '"', ""
    for child in node.children[1:]:
        if child.type == "string_content":
            continue
        if text := source.text((at, child.start_byte)):
            yield QUOTED, text, _unescaped(text)
        if child.end_byte == node.end_byte:
            yield QUOTED, '"', ""
        else:
            inner = source.text(span_of(child))
            yield EXPANDED if child.type in _EXPANSIONS else QUOTED, inner, inner
        at = child.end_byte


def _unescaped(text: str) -> str:
    """Return text in double quotes without the backslashes that quote there."""
    out, position = "", 0
    while position < len(text):
        if text[position] == "\\" and text[position + 1 : position + 2] in _ESCAPED:
            position += 1
        out += text[position : position + 1]
        position += 1
    return out


_ESCAPED = frozenset('$`"\\')
