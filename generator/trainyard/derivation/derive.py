"""Derive strict schemas and plurals of kinds."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from trainyard.derivation.source import Gvk, Source, Sources, display
from trainyard.derivation.strict import Schema, manifest_schema
from trainyard.diagnostics import ToolError

_PLURAL = "x-plural"
"""Keyword of a handwritten schema: the plural of a kind that an API server serves."""

_KUSTOMIZE = "kustomize.config.k8s.io"
"""Group of the files that no template writes."""


def path_of(gvk: Gvk) -> str:
    """Return a kind's path below ``schemas/``."""
    group, version, kind = gvk
    return f"{group or version}/{kind.lower()}_{version}.json"


def gvk_of(api_version: str, kind: str) -> Gvk:
    """Return a kind by what a manifest states."""
    group, _, version = api_version.rpartition("/")
    return group, version, kind


def find_all(sources: Sources, wanted: Iterable[Gvk]) -> dict[Gvk, Source]:
    """Return what some sources say of kinds, all of which they must describe.

    Raises:
        ToolError: not exactly one source has a kind.
    """
    found = {}
    for gvk in wanted:
        source = sources.find(gvk)
        if source is None:
            raise ToolError(f"{display(gvk)} is served by no {sources.name}")
        found[gvk] = source
    return found


def handwritten(
    files: Mapping[str, bytes], wanted: Collection[str]
) -> tuple[dict[str, Schema], dict[str, str]]:
    """Return the schemas written by hand by path, and their plurals by kind and group.

    Args:
        files: all of them, by path.
        wanted: paths of the kinds that are wanted; Kustomize's own are always.
    """
    schemas, plurals = {}, {}
    for name, content in sorted(files.items()):
        group = name.partition("/")[0]
        if name in wanted or group == _KUSTOMIZE:
            schema = json.loads(content)
            if plural := schema.pop(_PLURAL, ""):
                kind = schema["properties"]["kind"]["const"]
                plurals[f"{kind}.{group}"] = plural
            schemas[name] = schema
    return schemas, plurals


def schema_of(gvk: Gvk, source: Source) -> Schema:
    """Return the strict schema of a kind.

    Raises:
        ToolError: it has a keyword that nobody thought of, or another form.
    """
    group, version, kind = gvk
    api_version = f"{group}/{version}" if group else version
    try:
        return manifest_schema(
            api_version, kind, source.openapi, source.definitions, namespaced=source.namespaced
        )
    except ToolError as error:
        raise ToolError(f"{display(gvk)}: {error}") from error
    except (AttributeError, KeyError, RecursionError, TypeError) as error:
        raise ToolError(f"the schema of {display(gvk)} has another form than a CRD's") from error


def encoded(schemas: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the content of the files of schemas, sorted by path."""
    return {name: _encode(schema) for name, schema in sorted(schemas.items())}


def _encode(schema: Any) -> bytes:
    return (
        json.dumps(schema, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    ).encode()


def plurals_text(plurals: Mapping[str, str]) -> bytes:
    """Return the content of a file of plurals."""
    head = "# Written by `python -m tools.derive`: the plural of each kind that is served.\n"
    lines = (f"{kind}: {plural}\n" for kind, plural in sorted(plurals.items()))
    return "".join([head, *lines]).encode()
