"""Defaults stand in the schemas of profiles alone, and are filled in from there."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.calls import REPOSITORY
from trainyard.profiles.read import load
from trainyard.schema.defaults import filled
from trainyard.schema.profiles import profile_schema

_KINDS = ("cluster", "runtime", "team", "trainyard")
_RESOLVE = REPOSITORY / "generator/trainyard/resolve"
_MERGED = {"hardware.py", "release.py"}
"""Modules whose fields are a preset's or a release's first."""


def _defaults(schema: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(schema, dict):
        for name, field in schema.get("properties", {}).items():
            if isinstance(field, dict) and "default" in field:
                yield name, field["default"]
        for part in schema.values():
            yield from _defaults(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _defaults(part)


def _least(schema: Any, definitions: Any) -> Any:
    """Return a value with each mapping of a schema, and nothing that has a default."""
    schema = definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    if schema.get("type") != "object":
        return "stated"
    fields = {
        name: _least(each, definitions)
        for name, each in schema.get("properties", {}).items()
        if "default" not in each or "properties" in each
    }
    others = schema.get("additionalProperties")
    return {**fields, "one": _least(others, definitions)} if isinstance(others, dict) else fields


def _found(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for part in value.values():
            yield from _found(part)


@pytest.mark.parametrize("kind", _KINDS)
def test_each_default_is_filled_in(kind: str) -> None:
    """A default that stands where nothing looks for it would be a promise to users only."""
    schema = profile_schema(kind)
    profiles, _ = load(REPOSITORY / "profiles")
    source = profiles.settings
    source = type(source)(source.file, b"", _least(schema, schema.get("definitions", {})))
    before = copy.deepcopy(source.value)
    if kind == "trainyard":
        whole = filled(_only(profiles, settings=source)).settings
    else:
        whole = getattr(filled(_only(profiles, **{f"{kind}s": {"x": source}})), f"{kind}s")["x"]
    assert {name for name, _ in _defaults(schema)} <= set(_found(whole.value))
    assert source.value == before


def _stays(stated: Any, whole: Any) -> bool:
    """Return whether all that a profile states is where it was, beside what was filled in."""
    if isinstance(stated, dict):
        return all(name in whole and _stays(part, whole[name]) for name, part in stated.items())
    return bool(stated == whole)


def _only(profiles: Any, **sources: Any) -> Any:
    values = {name: getattr(profiles, name) for name in type(profiles).__dataclass_fields__}
    return type(profiles)(**{**values, "clusters": {}, "runtimes": {}, "teams": {}, **sources})


def test_what_a_profile_states_and_where_stays() -> None:
    """A rule asks the marks whether a value was stated, and a message shows its line."""
    profiles, _ = load(REPOSITORY / "profiles")
    for kind in ("clusters", "runtimes", "teams"):
        for name, source in getattr(profiles, kind).items():
            whole = getattr(filled(profiles), kind)[name]
            assert whole.marks is source.marks
            assert _stays(source.value, whole.value)
    assert filled(filled(profiles)) == filled(profiles)
    assert filled(profiles).hardware is profiles.hardware


def test_resolvers_repeat_no_default() -> None:
    """A second place would be forgotten when the first one changes."""
    known = [each for kind in _KINDS for each in _defaults(profile_schema(kind))]
    repeated = [
        f"{path.name}:{call.lineno}"
        for path in _RESOLVE.glob("*.py")
        if path.name not in _MERGED
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "get"
        and len(call.args) == 2
        and all(isinstance(each, ast.Constant | ast.Dict) for each in call.args)
        and tuple(map(ast.literal_eval, call.args)) in known
    ]
    assert repeated == []
