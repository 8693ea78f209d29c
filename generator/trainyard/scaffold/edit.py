"""Change one value of a profile, or remove a key; every other byte of the file stays."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from trainyard.diagnostics import Step, TreeError
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.scalars import is_typed
from trainyard.yaml_io.source import Plain, Source

Path = tuple[Step, ...]


def with_value(source: Source, path: Path, value: str | int) -> Source:
    """Return a profile with another value at a path; a key at the top may be new.

    Args:
        source: without faults.
        path: of a value on one line.
        value: text or a number; text that YAML would read as something else is written in quotes.

    Raises:
        TreeError: the value has another form, such as an anchor, or more than a line.
    """
    lines = _lines(source)
    written = f'"{value}"' if isinstance(value, str) and is_typed(value) else value
    if path in source.marks:
        mark = source.marks[path]
        line = lines[mark.line - 1]
        lines[mark.line - 1] = f"{line[: mark.column - 1]}{written}{line[mark.end_column - 1 :]}"
    else:
        lines = [*"\n".join(lines).rstrip("\n").split("\n"), f"{path[-1]}: {written}", ""]
    expected = deepcopy(source.value)
    _parent(expected, path)[path[-1]] = value
    return _checked(source, lines, path, expected)


def with_item(source: Source, path: Path, value: str) -> Source:
    """Return a profile with one more item after the item of a list at a path.

    Raises:
        TreeError: the list has another form.
    """
    mark = source.marks[path]
    lines = _lines(source)
    line = lines[mark.line - 1]
    lead = line[: mark.column - 1]
    if lead.strip() == "-":
        lines.insert(mark.line, f"{lead}{value}")
    else:
        end = mark.end_column - 1
        lines[mark.line - 1] = f"{line[:end]}, {value}{line[end:]}"
    expected = deepcopy(source.value)
    items = _parent(expected, path)
    items.insert(items.index(_parent(source.value, path)[path[-1]]) + 1, value)
    return _checked(source, lines, path, expected)


def without(source: Source, path: Path) -> Source:
    """Return a profile without a key, and without the mappings that would be empty then.

    Raises:
        TreeError: the key does not begin a line.
    """
    while len(path) > 1 and len(_parent(source.value, path)) == 1:
        path = path[:-1]
    lines = _lines(source)
    begin = source.key_marks[path].line - 1
    end = begin + 1
    for number in _inside(lines, begin, source.key_marks[path].column - 1):
        end = number + 1
    expected = deepcopy(source.value)
    del _parent(expected, path)[path[-1]]
    return _checked(source, [*lines[:begin], *lines[end:]], path, expected)


def _inside(lines: list[str], begin: int, indent: int) -> Iterator[int]:
    """Yield the lines of the value of a key; comments at its indent belong to the next key."""
    for number in range(begin + 1, len(lines)):
        text = lines[number].strip()
        if text and len(lines[number]) - len(lines[number].lstrip(" ")) <= indent:
            return
        if text:
            yield number


def _lines(source: Source) -> list[str]:
    """Return the lines without BOM, as marks count them; a carriage return stays."""
    return source.content.decode().removeprefix("\ufeff").split("\n")


def _parent(value: Plain, path: Path) -> Any:
    for step in path[:-1]:
        value = value[step]
    return value


def _checked(source: Source, lines: list[str], path: Path, expected: Plain) -> Source:
    """Return the new profile, which holds what is meant and nothing else.

    Raises:
        TreeError: it does not.
    """
    edited, problems = read(source.file, "\n".join(lines).encode())
    if problems or edited.value != expected:
        where = ".".join(map(str, path))
        raise TreeError(f"`{where}` of {source.file} can't be edited in this form: edit it by hand")
    return edited
