"""OpenAPI schemas made strict."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.derivation.strict import manifest_schema, portable, share, tighten
from trainyard.diagnostics import ToolError

TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("openapi", "strict"),
    [
        (
            {"type": "object", "properties": {"a": TEXT}},
            {"additionalProperties": False, "properties": {"a": TEXT}},
        ),
        ({"type": "object"}, {"additionalProperties": False}),
        ({"type": "object", "additionalProperties": TEXT}, {"additionalProperties": TEXT}),
        ({"type": "object", "additionalProperties": True}, {"additionalProperties": True}),
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, {}),
        (
            {
                "type": "object",
                "properties": {"a": TEXT},
                "x-kubernetes-preserve-unknown-fields": True,
            },
            {"properties": {"a": TEXT}},
        ),
        ({"type": "array", "items": {**TEXT, "description": "x"}}, {"items": TEXT}),
        ({**TEXT, "nullable": True}, {"type": ["string", "null"]}),
        (
            {**TEXT, "nullable": True, "enum": ["a"]},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        ({**TEXT, "default": "x", "format": "date", "x-kubernetes-validations": []}, {}),
        ({"x-kubernetes-int-or-string": True, "anyOf": [TEXT]}, {"type": ["integer", "string"]}),
        ({**TEXT, "pattern": "^(?i)a$", "maxLength": 3}, {"pattern": "^[Aa]$", "maxLength": 3}),
        ({"type": "object", "properties": {"default": TEXT, "items": TEXT}}, None),
    ],
)
def test_tighten_closes_and_strips(openapi: dict[str, Any], strict: dict[str, Any] | None) -> None:
    """Objects are closed unless they are open on purpose; prose is removed and rules stay."""
    if strict is None:
        strict = {"properties": openapi["properties"], "additionalProperties": False}
    expected = {"type": openapi["type"], **strict} if "type" in openapi else strict
    assert tighten(openapi, {}) == expected


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf", "not", "exclusiveMinimum", "$dynamicRef"])
def test_tighten_refuses_unknown_keyword(keyword: str) -> None:
    """A rule that the derivation doesn't know stops it rather than being lost."""
    with pytest.raises(ToolError, match="keyword"):
        tighten({"type": "object", keyword: []}, {})


def test_tighten_follows_references() -> None:
    """A reference is replaced by what it names; quantities are also numbers."""
    definitions: dict[str, dict[str, Any]] = {
        "a.List": {"type": "array", "items": {"$ref": "#/definitions/a.Item"}},
        "a.Item": TEXT,
    }
    assert tighten({"$ref": "#/definitions/a.List"}, definitions) == {
        "type": "array",
        "items": TEXT,
    }
    quantity = tighten({"$ref": "#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity"}, {})
    assert quantity["type"] == ["integer", "string"]


@pytest.mark.parametrize("pattern", ["a(?=b)", "a(?!b)", "(?<=a)b", "("])
def test_portable_refuses_pattern(pattern: str) -> None:
    """A pattern that one of the three regex engines doesn't know stops the derivation."""
    with pytest.raises(ToolError, match="portable"):
        portable(pattern)


@pytest.mark.parametrize("pattern", ["(?i)^(ab|c)?$", "^(?i)(ab|c)?$"])
def test_portable_spells_both_cases(pattern: str) -> None:
    """Such a pattern is in the CRD of PrometheusRule, and jsonschema-rs has no flags."""
    assert portable(pattern) == "^([Aa][Bb]|[Cc])?$"


def validator_of(*, namespaced: bool) -> jsonschema_rs.Draft7Validator:
    """Return the schema of an invented kind."""
    openapi = {
        "properties": {"spec": {"type": "object"}, "status": {"type": "object"}},
        "required": ["spec", "status"],
    }
    schema = manifest_schema("a.example/v1", "Thing", openapi, {}, namespaced=namespaced)
    return jsonschema_rs.Draft7Validator(schema)


@pytest.fixture
def validator() -> jsonschema_rs.Draft7Validator:
    """Return the schema of an invented kind, cluster-wide."""
    return validator_of(namespaced=False)


@pytest.mark.parametrize(
    ("change", "valid"),
    [
        ({}, True),
        ({"kind": "thing"}, False),
        ({"apiVersion": "a.example/v2"}, False),
        ({"status": {}}, False),
        ({"metadata": {}}, False),
        ({"metadata": {"name": "a", "finalizers": ["c"]}}, True),
        ({"metadata": {"name": "a", "labels": {"a": 1}}}, False),
        ({"metadata": {"name": "a", "annotations": {"a": None}}}, False),
        ({"metadata": {"name": "a", "creationTimestamp": None}}, False),
    ],
)
def test_manifest_schema_closes_envelope(
    change: dict[str, Any], valid: bool, validator: jsonschema_rs.Draft7Validator
) -> None:
    """A manifest is of exactly its kind and holds metadata that Trainyard writes, no status."""
    body = {
        "apiVersion": "a.example/v1",
        "kind": "Thing",
        "metadata": {"name": "a"},
        "spec": {},
        **change,
    }
    assert validator.is_valid(body) is valid


def test_manifest_schema_requires_envelope(validator: jsonschema_rs.Draft7Validator) -> None:
    """No part of the envelope can be left out, nor what the kind itself requires."""
    body = {"apiVersion": "a.example/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {}}
    assert not any(
        validator.is_valid({key: body[key] for key in body if key != gone}) for gone in body
    )


@pytest.mark.parametrize("namespaced", [True, False])
def test_manifest_has_a_namespace_if_its_kind_has_one(*, namespaced: bool) -> None:
    """A reader gets the scope from it, and no cluster-wide object passes as a team's."""
    bare = {"apiVersion": "a.example/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {}}
    placed = {**bare, "metadata": {"name": "a", "namespace": "b"}}
    validator = validator_of(namespaced=namespaced)

    assert (validator.is_valid(placed), validator.is_valid(bare)) == (namespaced, not namespaced)


LEAVES = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "integer"]), "maxLength": st.integers(0, 3)}
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda each: st.one_of(
        st.fixed_dictionaries({"type": st.just("array"), "items": each}),
        st.fixed_dictionaries(
            {"type": st.just("object"), "additionalProperties": each | st.just(False)}
        ),
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(st.sampled_from("abc"), each)}
        ),
    ),
    max_leaves=6,
)


def expanded(node: Any, definitions: dict[str, Any]) -> Any:
    """Return a schema with its references replaced."""
    if isinstance(node, list):
        return [expanded(each, definitions) for each in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return expanded(definitions[node["$ref"].rpartition("/")[2]], definitions)
    return {
        key: expanded(value, definitions) for key, value in node.items() if key != "definitions"
    }


@given(SCHEMAS, st.integers(2, 4))
def test_share_keeps_meaning(part: dict[str, Any], times: int) -> None:
    """Sharing changes the form of a schema, not its meaning, and never makes it longer."""
    schema = {
        "type": "object",
        "properties": {f"p{number}": {"items": part} for number in range(times)},
    }
    shared = share(schema)
    assert expanded(shared, shared.get("definitions", {})) == schema
    assert len(json.dumps(shared)) <= len(json.dumps(schema))
