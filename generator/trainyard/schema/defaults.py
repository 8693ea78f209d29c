"""Fill in what profiles leave out, by the defaults of their schemas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from trainyard.schema.profiles import profile_schema
from trainyard.yaml_io.source import Plain, Profiles, Source


def filled(profiles: Profiles) -> Profiles:
    """Return profiles of the right shape, in which each field with a default has a value.

    Marks stay those of the files, so a default has no place in them. Hardware stays as it is: what
    it leaves out is its preset's.
    """
    return replace(
        profiles,
        settings=_source("trainyard", profiles.settings),
        clusters=_sources("cluster", profiles.clusters),
        runtimes=_sources("runtime", profiles.runtimes),
        teams=_sources("team", profiles.teams),
    )


def _sources(kind: str, sources: Mapping[str, Source]) -> dict[str, Source]:
    return {name: _source(kind, source) for name, source in sources.items()}


def _source(kind: str, source: Source) -> Source:
    return replace(source, value=_filling_of(kind).fill(source.value))


@dataclass(frozen=True, slots=True)
class _Filling:
    """What a mapping gets.

    Args:
        defaults: of its own fields.
        fields: what mappings in its fields get.
        others: what mappings below its names get.
    """

    defaults: Mapping[str, Plain]
    fields: Mapping[str, _Filling]
    others: _Filling | None

    def fill(self, value: Plain) -> Plain:
        """Return a value with its defaults; one that is not a mapping as it is."""
        if not isinstance(value, dict):
            return value
        result = {**self.defaults, **value}
        for name, part in result.items():
            if filling := self.fields.get(name, self.others):
                result[name] = filling.fill(part)
        return result


@cache
def _filling_of(kind: str) -> _Filling:
    schema = profile_schema(kind)
    filling = _filling(schema, schema.get("definitions", {}))
    assert filling is not None
    return filling


def _filling(schema: Any, definitions: Mapping[str, Any]) -> _Filling | None:
    """Return what a value of a schema gets; None where nothing in it has a default."""
    if not isinstance(schema, dict):
        return None
    if "$ref" in schema:
        return _filling(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    parts = schema.get("properties", {})
    defaults = {name: part["default"] for name, part in parts.items() if "default" in part}
    fields = _fillings(parts, definitions)
    others = _filling(schema.get("additionalProperties"), definitions)
    return _Filling(defaults, fields, others) if defaults or fields or others else None


def _fillings(parts: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, _Filling]:
    """Return what the fields of a mapping get, without those in which nothing has a default."""
    fillings = {}
    for name, part in parts.items():
        if filling := _filling(part, definitions):
            fillings[name] = filling
    return fillings
