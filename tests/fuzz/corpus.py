"""The committed profiles, with which mutations start, and the values in them and in the schemas."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainyard.schema.profiles import profile_kinds, profile_schema
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Plain

ROOT = Path(__file__).resolve().parents[2]
REPOSITORIES = (
    ROOT / "profiles",
    *sorted(ROOT.glob("examples/*/profiles")),
    ROOT / "tests" / "rules" / "base" / "profiles",
)


@dataclass(frozen=True, slots=True)
class Seed:
    """One committed file.

    Args:
        root: folder of its profiles.
        path: its path below that folder.
        body: its document as plain data; None for a component's file with several documents.
    """

    root: Path
    path: str
    content: bytes = field(repr=False)
    body: Plain = field(repr=False)


def _seeds() -> Iterator[Seed]:
    for root in REPOSITORIES:
        for path in sorted(root.rglob("*.yaml")):
            content = path.read_bytes()
            yield Seed(root, path.relative_to(root).as_posix(), content, read("", content)[0].value)


def places(node: Plain) -> Iterator[tuple[Plain, Any]]:
    """Yield container, and key or index, of every value inside plain data."""
    for step, child in _children(node):
        yield node, step
        yield from places(child)


def _children(node: Plain) -> list[tuple[Any, Plain]]:
    if isinstance(node, dict):
        return list(node.items())
    return list(enumerate(node)) if isinstance(node, list) else []


def _schema_values(schema: Any) -> Iterator[tuple[str, Plain]]:
    """Yield each key of a schema with each value that the schema itself lists for it."""
    for group in ("properties", "definitions"):
        for name, child in schema.get(group, {}).items():
            named = [*child.get("enum", ()), *child.get("examples", ()), child.get("default")]
            limits = [child[limit] for limit in ("minimum", "maximum") if limit in child]
            yield from ((name, value) for value in (*named, *limits))
            yield from _schema_values(child)
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            yield from _schema_values(schema[keyword])


def _values() -> dict[str, list[Plain]]:
    """Return all values of each key in the profiles and the schemas."""
    known: dict[str, list[Plain]] = defaultdict(list)
    for seed in SEEDS:
        for container, step in places(seed.body):
            known[str(step)].append(container[step])
    for kind in profile_kinds():
        for name, value in _schema_values(profile_schema(kind)):
            known[name].append(value)
    return dict(known)


SEEDS = tuple(_seeds())
VALUES = _values()
KEYS = sorted(VALUES)
