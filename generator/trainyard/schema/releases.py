"""Validation of the releases of a repository: their file, and the strictness of their schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path
from typing import Any

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model.release import Schemas
from trainyard.rules.release.unusable_release import RULE as UNUSABLE_RELEASE
from trainyard.schema.manifests import compiled, effective, path_of
from trainyard.schema.shape import check_shape
from trainyard.shipped import shipped
from trainyard.yaml_io.source import Profiles

_HERE = Path(__file__).parent
_LINE = "\n"
_REF = "#/definitions/"
_NAMED = frozenset({"apiVersion", "kind", "metadata"})


class LooseError(Exception):
    """A schema accepts more than the objects of its kind."""


def check_releases(profiles: Profiles) -> Iterator[Diagnostic]:
    """Yield what is wrong with the releases of a repository.

    Raises:
        ToolError: a shipped release that one extends is missing, or was changed.
    """
    for name, source in sorted(profiles.own_releases.items()):
        if source.value is not None:
            yield from check_shape(source, _schema())
        if name in profiles.release_folders:
            at = Pointer(source.file)
            folder = profiles.release_folders[name]
            base = effective(Schemas(folder.base))
            for path, content in sorted(folder.schemas.items()):
                if fault := fault_of(path, content, base.get(path)):
                    yield UNUSABLE_RELEASE.at(at, f"release {name}: `{path}` {fault}")
            yield from _check_features(profiles, name, at)


@cache
def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(shipped(_HERE, "*.json")["release.json"])
    return schema


def _check_features(profiles: Profiles, name: str, at: Pointer) -> Iterator[Diagnostic]:
    """Yield the features of a release that no shipped one has: nothing asks for them."""
    known = known_features(profiles)
    stated = profiles.own_releases[name].value.get("features", ())
    for number, feature in enumerate(stated if isinstance(stated, list) else ()):
        if isinstance(feature, str) and feature not in known:
            message = f"release {name}: there is no feature `{feature}`"
            hint = f"There is: {', '.join(sorted(known))}."
            yield UNUSABLE_RELEASE.at(at / "features" / number, message, hint=hint)


def known_features(profiles: Profiles) -> frozenset[str]:
    """Return the features that shipped releases have."""
    shipped_ones = profiles.releases.keys() - profiles.release_folders.keys()
    stated = (profiles.releases[name].value for name in shipped_ones)
    return frozenset(feature for fields in stated if fields for feature in fields["features"])


def fault_of(path: str, content: bytes, base: bytes | None) -> str:
    """Return why a schema is not a strict one of the kind in its path; empty when it is.

    Args:
        path: e.g. ``schemas/v1/namespace_v1.json``.
        content: the schema.
        base: the schema of this kind of the release that is extended; None if it has none.
    """
    try:
        # First, so that each keyword has the form that the following expects.
        compiled(content)
        document = json.loads(content)
        _need_strict(path, document)
        if base is not None:
            _need_as_closed(document, json.loads(base))
    except LooseError as fault:
        return str(fault)
    except (RecursionError, ValueError) as fault:
        return f"is not a schema: {str(fault).partition(_LINE)[0][:200]}"
    return ""


def _need_strict(path: str, document: Any) -> None:
    """Refuse a schema that is open, of another kind, or refers to anything outside of it.

    Raises:
        LooseError: it is.
    """
    properties = document.get("properties") if isinstance(document, dict) else None
    if not isinstance(properties, dict) or document.get("additionalProperties") is not False:
        raise LooseError("accepts every field: it is not closed")
    if not set(document.get("required", ())) >= {"apiVersion", "kind"}:
        raise LooseError("does not require `apiVersion` and `kind`")
    version, kind = (_const(properties, key) for key in ("apiVersion", "kind"))
    if path_of(version, kind) != path:
        raise LooseError(f"is of {version} {kind}, which is not the kind in its name")
    definitions = document.get("definitions", {})
    _need_own_references(document, definitions)
    for name in sorted(properties.keys() - _NAMED):
        _need_typed(name, target(properties[name], definitions))


def _const(properties: Mapping[str, Any], key: str) -> str:
    field = properties.get(key)
    value = field.get("const") if isinstance(field, dict) else None
    if not isinstance(value, str):
        raise LooseError(f"does not state its `{key}`")
    return value


def _need_own_references(document: Mapping[str, Any], definitions: Any) -> None:
    """Refuse references to files, to anything that is missing, and in a circle.

    Raises:
        LooseError: there is one.
    """
    if not isinstance(definitions, dict):
        raise LooseError("has `definitions` that are not a mapping")
    graph = {f"{_REF}{name}": set(_references(node)) for name, node in definitions.items()}
    above = {key: node for key, node in document.items() if key != "definitions"}
    unknown = {*_references(above), *chain.from_iterable(graph.values())} - graph.keys()
    if unknown:
        raise LooseError(f"refers to {min(unknown)[:100]!r}, which is not in it")
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise LooseError(f"refers in a circle to {error.args[1][0]!r}") from error


def _references(document: Any) -> Iterator[str]:
    """Yield the references at and below a node."""
    waiting = [document]
    for node in waiting:
        if isinstance(node, dict):
            waiting.extend(node.values())
            if isinstance(node.get("$ref"), str):
                yield node["$ref"]
        elif isinstance(node, list):
            waiting.extend(node)


def target(node: Any, definitions: Mapping[str, Any]) -> Any:
    """Return what a node is or refers to; no reference leads in a circle."""
    while isinstance(node, dict) and "$ref" in node:
        node = definitions[node["$ref"].removeprefix(_REF)]
    return node


def _need_typed(name: str, node: Any) -> None:
    if not isinstance(node, dict) or not {"type", "enum", "const"} & node.keys():
        raise LooseError(f"accepts any value of `{name}`")
    if node.get("type") == "object" and not {"properties", "additionalProperties"} & node.keys():
        raise LooseError(f"accepts every field of `{name}`")


def _need_as_closed(document: Mapping[str, Any], base: Mapping[str, Any]) -> None:
    """Refuse a top field that is open and was closed in the release that is extended.

    Raises:
        LooseError: there is one.
    """
    for name in document["properties"].keys() & base["properties"].keys():
        closed, new = (
            target(each["properties"][name], each.get("definitions", {}))
            for each in (base, document)
        )
        if _is_closed(closed) and not _is_closed(new):
            raise LooseError(f"accepts every field of `{name}`")


def _is_closed(node: Any) -> bool:
    return isinstance(node, dict) and node.get("additionalProperties") is False
