"""Every field of a schema, and objects that lack one or have one without bound."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from trainyard.schema.manifests import schema_folder

Body = dict[str, Any]
Path = tuple[str, ...]

_ITEM = "[]"
_KEY = "{}"
_HUGE = 270_000
"""Bytes of a field without bound: more than any object may have."""
_UNIONS = {"valueFrom", "volumes"}
"""Objects of which one field chooses what the object is: another one is tried in its place."""
_BOUND = 4096
"""Characters that a schema may leave to a text without a policy."""


def schema_of(release: str, group: str, kind: str) -> Body:
    """Return the strict schema of a kind in a release, without references."""
    schema = json.loads((schema_folder(release) / group / f"{kind}.json").read_bytes())
    found: Body = _resolved(schema, schema.get("definitions", {}))
    return found


def _resolved(node: Any, definitions: Body) -> Any:
    if isinstance(node, list):
        return [_resolved(each, definitions) for each in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _resolved(definitions[node["$ref"].rpartition("/")[2]], definitions)
    return {key: _resolved(value, definitions) for key, value in node.items()}


def without_place(schema: Body, body: Any, path: Path = ()) -> Iterator[tuple[Path, Body]]:
    """Yield each field of a schema that an object lacks, with the field's schema."""
    if "properties" in schema:
        found = body if isinstance(body, dict) else {}
        for name, child in schema["properties"].items():
            if name not in found:
                yield (*path, name), child
            else:
                yield from without_place(child, found[name], (*path, name))
    elif "items" in schema and isinstance(body, list):
        together = _together(body)
        yield from without_place(schema["items"], together, (*path, _ITEM))


def _together(members: list[Any]) -> Any:
    """Return one object with the fields of all members of a list."""
    if not all(isinstance(each, dict) for each in members):
        return members[0]
    found: Body = {}
    for each in members:
        for key, value in each.items():
            known = found.get(key)
            both = isinstance(known, dict) and isinstance(value, dict)
            found[key] = _together([known, value]) if both else value
    return found


def with_field(body: Body, path: Path, schema: Body) -> Body:
    """Return an object with one more field, as small as its schema lets it be."""
    changed = deepcopy(body)
    *above, name = path
    parent = _place(changed, tuple(above), name)
    if above and (above[-1] in _UNIONS or above[-2:] == ["volumes", _ITEM]):
        for key in set(parent) - {"name"}:
            del parent[key]
    parent[name] = _smallest(schema)
    return changed


def _place(body: Any, path: Path, name: str) -> Any:
    """Return the object that a path leads to; of a list the member that has most of the path."""
    if not path:
        return body
    if path[0] != _ITEM:
        return _place(body[path[0]], path[1:], name)
    rest = [each for each in path[1:] if each != _ITEM][:1]
    members = [each for each in body if isinstance(each, dict) and all(key in each for key in rest)]
    return _place((members or body)[-1], path[1:], name)


def _smallest(schema: Body) -> Any:
    kinds = schema.get("type", "object")
    kind = kinds[0] if isinstance(kinds, list) else kinds
    if "enum" in schema:
        return schema["enum"][0]
    if kind == "object":
        required = schema.get("required", [])
        return {name: _smallest(schema["properties"][name]) for name in required}
    if kind == "array":
        return [_smallest(schema["items"])]
    return {"boolean": True, "integer": 1, "number": 1, "string": "x"}[kind]


def enlarged(schema: Body, body: Any) -> Iterator[tuple[str, Any]]:
    """Yield an object with one of its texts, lists and maps at a time without bound.

    What its schema bounds stays as it is.
    """
    if isinstance(body, dict) and "properties" in schema:
        for name, value in body.items():
            for path, changed in enlarged(schema["properties"].get(name, {}), value):
                yield f".{name}{path}", {**body, name: changed}
    elif isinstance(body, dict):
        many = {f"example.com/{i}": "x" for i in range(_HUGE // 16)}
        yield _KEY, {**body, **many}
        yield f"{_KEY}value", {**body, "example.com/x": "x" * _HUGE}
    elif isinstance(body, list):
        yield from _enlarged_list(schema, body)
    elif isinstance(body, str) and not _is_bounded(schema):
        yield "", body + "x" * _HUGE


def _enlarged_list(schema: Body, members: list[Any]) -> Iterator[tuple[str, Any]]:
    if schema.get("maxItems", _HUGE) > 2 * _BOUND:
        size = len(json.dumps(members[0]))
        yield _ITEM, members + [_other(members[0], i) for i in range(_HUGE // size)]
    for i, each in enumerate(members):
        for path, changed in enlarged(schema["items"], each):
            yield f"[{i}]{path}", [*members[:i], changed, *members[i + 1 :]]


def _other(member: Any, number: int) -> Any:
    """Return a member of a list with another name: names differ within some lists."""
    if isinstance(member, str):
        return f"{member}{number}"
    return {**member, **{key: f"{member[key]}{number}" for key in ("name", "key") if key in member}}


def _is_bounded(schema: Body) -> bool:
    return "enum" in schema or bool(schema.get("maxLength", _HUGE) <= _BOUND)
