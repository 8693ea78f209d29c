"""Turn OpenAPI schemas of Kubernetes kinds into strict ones: draft-07, closed, self-contained."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trainyard.diagnostics import ToolError

Schema = dict[str, Any]

DRAFT7 = "http://json-schema.org/draft-07/schema#"

_KEPT = frozenset(
    {
        "enum",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
    }
    | {"pattern", "required", "type"}
)
_WALKED = frozenset({"additionalProperties", "items", "nullable", "properties"})
_DROPPED = frozenset({"default", "description", "example", "externalDocs", "format", "title"})

_SHARED_FROM = 200
"""Length of a subschema, in characters of JSON, from which it is shared."""

_INT_OR_STRING: Schema = {"type": ["integer", "string"]}
_QUANTITY: Schema = {
    **_INT_OR_STRING,
    "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]"
    r"|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$",
}
_STRINGS: Schema = {"type": "object", "additionalProperties": {"type": "string"}}
_METADATA: Schema = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 253},
        "namespace": {"type": "string", "minLength": 1, "maxLength": 63},
        "labels": _STRINGS,
        "annotations": _STRINGS,
        "finalizers": {"type": "array", "items": {"type": "string"}},
    },
}
_TEMPLATE_METADATA: Schema = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"labels": _STRINGS, "annotations": _STRINGS},
}
_BY_NAME: Mapping[str, Schema] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": _QUANTITY,
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": _TEMPLATE_METADATA,
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": _INT_OR_STRING,
}
"""Definitions of the Kubernetes specification that allow less than the API server accepts, or more
than we emit."""


def manifest_schema(
    api_version: str,
    kind: str,
    openapi: Schema,
    definitions: Mapping[str, Schema],
    *,
    namespaced: bool,
) -> Schema:
    """Return the strict schema of one kind.

    ``status`` is refused: it belongs to controllers. ``metadata`` is closed to the fields that
    Trainyard writes. It has a namespace if, and only if, the kind is namespaced: the rest of
    Trainyard reads an object's scope from it.

    Args:
        api_version: e.g. ``kueue.x-k8s.io/v1beta2``.
        kind: e.g. ``ClusterQueue``.
        openapi: ``openAPIV3Schema`` of a CRD, or a definition of the Kubernetes specification.
        definitions: what its ``$ref`` may name, by name; empty for a CRD.
        namespaced: whether its objects are in namespaces.

    Raises:
        ToolError: the schema uses a keyword that this derivation doesn't know.
    """
    own = {name: child for name, child in openapi["properties"].items() if name != "status"}
    properties = tighten({"type": "object", "properties": own}, definitions)["properties"]
    properties |= {
        "apiVersion": {"const": api_version},
        "kind": {"const": kind},
        "metadata": _metadata(namespaced=namespaced),
    }
    required = {"apiVersion", "kind", "metadata", *openapi.get("required", ())} - {"status"}
    closed = {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "required": sorted(required),
    }
    return {"$schema": DRAFT7, **share(closed)}


def _metadata(*, namespaced: bool) -> Schema:
    if namespaced:
        return _METADATA | {"required": ["name", "namespace"]}
    properties = {
        name: child for name, child in _METADATA["properties"].items() if name != "namespace"
    }
    return _METADATA | {"properties": properties}


def tighten(node: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """Return a node of an OpenAPI schema as strict draft-07.

    An object is closed unless it is a map or keeps unknown fields: the API server would prune every
    other field silently, so it is refused here.
    """
    if "$ref" in node:
        return _referred(node["$ref"].rpartition("/")[2], definitions)
    if node.get("x-kubernetes-int-or-string"):
        node = _int_or_string(node)
    _refuse_unknown(node)
    strict: Schema = {key: node[key] for key in sorted(_KEPT & node.keys())} | _nullable(node)
    if "pattern" in strict:
        strict["pattern"] = portable(strict["pattern"])
    if "items" in node:
        strict["items"] = tighten(node["items"], definitions)
    if "properties" in node:
        strict["properties"] = {
            name: tighten(child, definitions) for name, child in node["properties"].items()
        }
    return strict | _openness(node, definitions)


def _referred(name: str, definitions: Mapping[str, Schema]) -> Schema:
    return _BY_NAME[name] if name in _BY_NAME else tighten(definitions[name], definitions)


def _int_or_string(node: Schema) -> Schema:
    """Return a node with a type in place of its `anyOf`, which means the same."""
    kept = {key: value for key, value in node.items() if key not in {"anyOf", "type"}}
    return kept | _INT_OR_STRING


def _nullable(node: Schema) -> Schema:
    """Return OpenAPI's ``nullable`` in draft-07.

    SecurityContextConstraints require keys whose value may be null.
    """
    if not node.get("nullable") or "type" not in node:
        return {}
    types = node["type"] if isinstance(node["type"], list) else [node["type"]]
    return {"type": [*types, "null"]} | ({"enum": [*node["enum"], None]} if "enum" in node else {})


def _openness(node: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """Return the schema of the keys that an object doesn't name."""
    if node.get("type") != "object" or node.get("x-kubernetes-preserve-unknown-fields"):
        return {}
    others = node.get("additionalProperties", False)
    return {
        "additionalProperties": others if isinstance(others, bool) else tighten(others, definitions)
    }


def _refuse_unknown(node: Schema) -> None:
    """A keyword that is dropped unseen could be a rule that is lost."""
    unknown = (
        {key for key in node if not key.startswith("x-kubernetes-")} - _KEPT - _WALKED - _DROPPED
    )
    if unknown:
        raise ToolError(f"cannot derive a strict schema from the keyword {min(unknown)!r}")


def portable(pattern: str) -> str:
    """Return a pattern that Python, Rust and Go read alike.

    Go allows an inline flag anywhere, and JSON Schema's own dialect nowhere: each letter is given
    in both cases. Go has no look-around.

    Raises:
        ToolError: there is no such pattern.
    """
    rewritten = pattern
    if found := re.fullmatch(r"\^?\(\?i\)([^\[\\]*)", pattern):
        rewritten = re.sub("[a-zA-Z]", _either_case, "^" + found[1].removeprefix("^"))
    try:
        re.compile(rewritten)
    except re.error as error:
        raise ToolError(f"pattern {pattern!r} is not portable: {error}") from error
    if re.search(r"\(\?<?[=!]", rewritten):
        raise ToolError(f"pattern {pattern!r} is not portable: look-around")
    return rewritten


def _either_case(letter: re.Match[str]) -> str:
    return f"[{letter[0].upper()}{letter[0].lower()}]"


def share(schema: Schema) -> Schema:
    """Return a schema with each large repeated subschema once, under ``definitions``.

    An ApplicationSet repeats its template in each of its nested generators: shared it is 15 times
    smaller and compiles in a fraction of the time. A definition is named by its content, so that a
    change moves no other name.
    """
    counts: Counter[str] = Counter()
    definitions: dict[str, Schema] = {}

    def count(node: Schema) -> None:
        text = _canonical(node)
        counts[text] += 1
        if counts[text] == 1:
            for child in _children(node):
                count(child)

    def fold(node: Schema) -> Schema:
        text = _canonical(node)
        name = hashlib.sha256(text.encode()).hexdigest()[:12]
        if name in definitions:
            return {"$ref": f"#/definitions/{name}"}
        folded = _with_children(node, fold)
        if counts[text] == 1 or len(text) < _SHARED_FROM:
            return folded
        definitions[name] = folded
        return {"$ref": f"#/definitions/{name}"}

    count(schema)
    folded = fold(schema)
    return folded | ({"definitions": definitions} if definitions else {})


def _canonical(schema: Schema) -> str:
    return json.dumps(schema, sort_keys=True, separators=(",", ":"))


def _children(node: Schema) -> Iterator[Schema]:
    """Yield the subschemas one step inside."""
    yield from node.get("properties", {}).values()
    yield from (
        node[key] for key in ("additionalProperties", "items") if isinstance(node.get(key), dict)
    )


def _with_children(node: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """Return a node with its subschemas changed."""
    changed = dict(node)
    if "properties" in node:
        changed["properties"] = {name: change(child) for name, child in node["properties"].items()}
    for key in ("additionalProperties", "items"):
        if isinstance(node.get(key), dict):
            changed[key] = change(node[key])
    return changed
