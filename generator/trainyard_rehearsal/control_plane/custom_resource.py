"""A CustomResourceDefinition out of one of our own schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard_rehearsal.control_plane.api import Body

_KEPT = ("enum", "format", "maximum", "maxLength", "minimum", "minLength", "pattern", "type")


def custom_resource(group: str, version: str, kind: str, schema: Mapping[str, Any]) -> Body:
    """Return the definition of a cluster-wide kind, as far as a structural schema can say what ours does.

    Fields that the schema doesn't have are refused by strict field validation; conditions between
    fields are left out.
    """
    plural = f"{kind.lower()}s"
    fields = {
        name: _structural(each)
        for name, each in schema["properties"].items()
        if name not in _ENVELOPE
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Cluster",
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": plural,
                "singular": kind.lower(),
            },
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": fields | {"status": _STATUS},
                        }
                    },
                    "subresources": {"status": {}},
                }
            ],
        },
    }


_ENVELOPE = {"apiVersion", "kind", "metadata"}
_STATUS = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _structural(schema: Mapping[str, Any]) -> Body:
    """Return what a structural schema may hold of a JSON Schema (KEP-1693)."""
    kept = {key: value for key, value in schema.items() if key in _KEPT}
    if "const" in schema:
        kept["enum"] = [schema["const"]]
    if "properties" in schema:
        kept["properties"] = {
            name: _structural(each) for name, each in schema["properties"].items()
        }
    elif isinstance(schema.get("additionalProperties"), dict):
        kept["additionalProperties"] = _structural(schema["additionalProperties"])
    if "items" in schema:
        kept["items"] = _structural(schema["items"])
    return kept if "type" in kept else {**kept, "type": _type_of(kept)}


def _type_of(schema: Body) -> str:
    return "array" if "items" in schema else "object" if "properties" in schema else "string"
