"""Put comments and blank lines back to their values, after the values were laid out anew."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby

from trainyard.yaml_io.remarks import Node, Remark, Remarks, begins_line, nodes


class NoPlaceError(Exception):
    """A comment has no line of its own any more.

    Args:
        line: of the comment in the old text, from 1.
    """

    def __init__(self, remark: Remark) -> None:
        super().__init__(f"no line of its own is left for the comment `{remark.text}`")
        self.line = remark.line + 1


def with_remarks(text: str, known: Remarks) -> str:
    """Return a text with the comments and blank lines of another one that has the same values.

    Of several blank lines only one is kept, and none at the beginning or end.

    Args:
        text: without comments and blank lines.
        known: those of the other text.

    Raises:
        NoPlaceError: a comment has no line of its own.
    """
    found = nodes(text)
    above, beside = _above(text, found, known), _beside(found, known)
    whole: list[str] = []
    for number, line in enumerate(text.removesuffix("\n").split("\n")):
        whole += [*_single(above.get(number, [])), f"{line}{beside.get(number, '')}"]
    last = [*_single(above.get(text.count("\n"), []))]
    if last[-1:] == [""]:
        last.pop()
    return "\n".join([*whole[whole[0] == "" :], *last, ""])


def _above(text: str, found: list[Node], known: Remarks) -> dict[int, list[str]]:
    """Return the lines to write above each line, by its number."""
    above: dict[int, list[str]] = defaultdict(list)
    end = text.count("\n")
    for number, many in known.above.items():
        line = found[number].line if number < len(found) else end
        if number < len(found) and not begins_line(text, found[number]):
            _refuse([remark for remark in many if remark.text])
        else:
            above[line] += [_indented(text, found, remark) for remark in many]
    return above


def _indented(text: str, found: list[Node], remark: Remark) -> str:
    """Return a comment with the indentation of its section."""
    if remark.level is None:
        return remark.text
    node = found[remark.level]
    line = text[node.start - node.column : node.start + 1]
    return f"{line[: len(line) - len(line.lstrip(' '))]}{remark.text}"


def _beside(found: list[Node], known: Remarks) -> dict[int, str]:
    """Return the comment at the end of each line, by the line's number."""
    beside: dict[int, str] = {}
    for number, many in known.beside.items():
        line = found[number].line
        _refuse(many[1:] if line not in beside else many)
        beside[line] = f" {many[0].text}"
    return beside


def _refuse(rest: list[Remark]) -> None:
    """Stop at the first of the comments that have no place."""
    for remark in rest:
        raise NoPlaceError(remark)


def _single(group: list[str]) -> Iterator[str]:
    """Yield the lines of a group, and only one of several blank ones."""
    for blank, lines in groupby(group, lambda line: not line):
        yield from [""] if blank else lines
