"""Every key that a profile can have, read from the schemas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from trainyard.schema.profiles import profile_kinds, profile_schema

NAME = "*"
"""Step to an entry of a mapping whose keys are names of the user."""

ITEM = "[]"
"""Step to an item of a list."""


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """A key of one kind of profile; without steps it is the profile itself.

    Args:
        kind: name of the schema, e.g. ``team``.
        steps: keys from the top of the profile; ``*`` for any name, ``[]`` for any item.
    """

    kind: str
    steps: tuple[str, ...] = ()

    def __truediv__(self, step: str) -> Key:
        """Return the key one step further inside."""
        return Key(self.kind, (*self.steps, step))

    def __str__(self) -> str:
        return ".".join((self.kind, *self.steps))


@cache
def keys() -> tuple[Key, ...]:
    """Return every key of every kind of profile, nested ones too, and the profiles themselves."""
    return tuple(sorted(key for kind in profile_kinds() for key in _below(Key(kind))))


@cache
def schema_of(key: Key) -> dict[str, Any]:
    """Return the schema of a key's value."""
    schema = profile_schema(key.kind)
    for number, step in enumerate(key.steps):
        schema = _inside(Key(key.kind, key.steps[:number]), schema)[step]
    return schema


def children(key: Key) -> dict[str, dict[str, Any]]:
    """Return the schemas one step below a key, by step."""
    return _inside(key, schema_of(key))


def _below(key: Key) -> Iterator[Key]:
    yield key
    for step in children(key):
        yield from _below(key / step)


def _inside(key: Key, schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = dict(schema.get("properties", {}))
    if isinstance(schema.get("additionalProperties"), dict):
        found[NAME] = schema["additionalProperties"]
    for below in schema.get("patternProperties", {}).values():
        found[NAME] = below
    if "items" in schema:
        found[ITEM] = schema["items"]
    return {step: _followed(key.kind, below) for step, below in found.items()}


def _followed(kind: str, schema: dict[str, Any]) -> dict[str, Any]:
    name = str(schema.get("$ref", "")).removeprefix("#/definitions/")
    return profile_schema(kind)["definitions"][name] if name else schema
