"""Profiles as plain data, and lookups in them."""

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
    """Yield the path of every value in plain data that some steps select."""
    if not steps:
        yield ()
        return
    for step, below in _inside(value, steps[0]):
        for place in places(below, steps[1:]):
            yield step, *place


def _inside(value: Plain, step: str) -> list[tuple[str | int, Plain]]:
    """Return key or index, and value, of everything that one step selects."""
    if step == ITEM:
        return list(enumerate(value)) if isinstance(value, list) else []
    if not isinstance(value, dict):
        return []
    if step == NAME:
        return list(value.items())
    return [(step, value[step])] if step in value else []


def at(value: Plain, place: Sequence[str | int]) -> Plain:
    """Return the value at a path."""
    for step in place:
        value = value[step]
    return value
