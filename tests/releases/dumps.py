"""Dumps of CRDs as ``kubectl get crd -o json`` prints them, without a cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trainyard.model.release import Schemas
from trainyard.profiles.read import PACKAGE, plurals, releases
from trainyard.schema.manifests import effective

_KUBERNETES = {
    "admissionregistration.k8s.io",
    "batch",
    "networking.k8s.io",
    "rbac.authorization.k8s.io",
}


def dump_of(release: str) -> dict[str, Any]:
    """Return CRDs from which the schemas of a shipped release follow, byte for byte.

    Descriptions and defaults are missing, which the schemas lack too.
    """
    limits = releases()[release].value["queueLimits"]
    return {"apiVersion": "v1", "kind": "List", "items": list(_crds(release, limits))}


def write_dump(file: Path, release: str, but: Mapping[str, Any] | None = None) -> Path:
    """Write the CRDs of a release into a file; some kinds have others, or none."""
    changed = but or {}
    body = dump_of(release)
    kinds = (each["spec"]["names"]["kind"] for each in body["items"])
    body["items"] = [
        changed.get(kind, each)
        for kind, each in zip(kinds, body["items"], strict=True)
        if changed.get(kind, each) is not None
    ]
    file.write_text(json.dumps(body), encoding="utf-8")
    return file


def crd_of(release: str, kind: str) -> dict[str, Any]:
    """Return the CRD of one kind."""
    found = (each for each in dump_of(release)["items"] if each["spec"]["names"]["kind"] == kind)
    return next(found)


def _crds(release: str, limits: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    names = plurals()[release].value
    by_hand = {path.name for path in (PACKAGE / "releases" / "handwritten").iterdir()}
    for content in effective(Schemas(release)).values():
        document = json.loads(content)
        version = document["properties"]["apiVersion"]["const"]
        kind = document["properties"]["kind"]["const"]
        group, _, short = version.rpartition("/")
        if f"{kind}.{group}" in names and group not in by_hand | _KUBERNETES:
            openapi = _openapi(document, document.get("definitions", {}))
            if kind == "LocalQueue":
                openapi["properties"]["status"] = _status(limits)
            yield _crd(group, kind, short, names[f"{kind}.{group}"], openapi)


def _crd(group: str, kind: str, version: str, plural: str, openapi: Any) -> dict[str, Any]:
    scope = "namespace" in openapi["properties"]["metadata"]["properties"]
    openapi["properties"]["metadata"] = {"type": "object"}
    schema = {"openAPIV3Schema": openapi}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural},
            "scope": "Namespaced" if scope else "Cluster",
            "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
        },
    }


def _status(limits: Mapping[str, int]) -> dict[str, Any]:
    resources = {"type": "array", "maxItems": limits["resources"], "items": {"type": "object"}}
    flavor = {"type": "object", "properties": {"resources": resources}}
    flavors = {"type": "array", "maxItems": limits["flavors"], "items": flavor}
    return {"type": "object", "properties": {"flavorsReservation": flavors}}


def _openapi(node: Any, definitions: Mapping[str, Any]) -> Any:
    """Return the OpenAPI schema that becomes a strict one."""
    while "$ref" in node:
        node = definitions[node["$ref"].rpartition("/")[2]]
    kept = {key: value for key, value in node.items() if key not in {"$schema", "definitions"}}
    if "const" in kept:
        return {"type": "string"}
    kept = _typed(kept)
    for key in ("items", "additionalProperties"):
        if isinstance(kept.get(key), dict):
            kept[key] = _openapi(kept[key], definitions)
    if "properties" in kept:
        kept["properties"] = {
            name: _openapi(child, definitions) for name, child in kept["properties"].items()
        }
    return kept


def _typed(kept: dict[str, Any]) -> dict[str, Any]:
    """Return a node with one type and Kubernetes' own keywords."""
    types = kept.get("type")
    if types == ["integer", "string"]:
        others = {key: value for key, value in kept.items() if key != "type"}
        return {**others, "x-kubernetes-int-or-string": True}
    if isinstance(types, list):
        kept = {**kept, "type": types[0], "nullable": True}
        if "enum" in kept:
            kept["enum"] = [each for each in kept["enum"] if each is not None]
    if kept.get("type") == "object" and "additionalProperties" not in kept:
        return {**kept, "x-kubernetes-preserve-unknown-fields": True}
    if kept.get("additionalProperties") is False:
        return {key: value for key, value in kept.items() if key != "additionalProperties"}
    return kept
