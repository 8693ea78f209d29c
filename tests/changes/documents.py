"""Profiles as plain data, and the way to what is in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tests.changes.keys import ITEM, NAME
from trainyard.yaml_io.source import Plain

Documents = Mapping[str, Plain]
"""Profiles as plain data, by path below ``profiles/``."""


def folder_of(kind: str) -> str:
    """Return the folder of the profiles of a kind; empty for a kind that is one file."""
    if kind in {"allocations", "trainyard", "waivers"}:
        return ""
    return kind if kind in {"compliance", "hardware"} else f"{kind}s"


def files_of(kind: str, documents: Documents) -> list[str]:
    """Return the files of the profiles of a kind, sorted."""
    folder = folder_of(kind)
    if not folder:
        return [file for file in documents if file == f"{kind}.yaml"]
    return sorted(file for file in documents if file.startswith(f"{folder}/"))


def places(value: Plain, steps: Sequence[str]) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of everything in plain data that some steps lead to."""
    if not steps:
        yield ()
        return
    first, rest = steps[0], steps[1:]
    if isinstance(value, dict) and first != ITEM:
        inside = (
            list(value.items())
            if first == NAME
            else [(first, value[first])]
            if first in value
            else []
        )
    else:
        inside = list(enumerate(value)) if isinstance(value, list) and first == ITEM else []
    for step, below in inside:
        yield from ((step, *place) for place in places(below, rest))


def at(value: Plain, place: Sequence[str | int]) -> Plain:
    """Return what is at a path."""
    for step in place:
        value = value[step]
    return value
