"""The schemas of profiles: closed, described, and safe to match."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft7Validator

from trainyard.diagnostics import ToolError
from trainyard.model.launcher import LAUNCHERS
from trainyard.model.link import LINKS
from trainyard.model.providers import PROVIDERS
from trainyard.model.refusal import REFUSALS
from trainyard.schema.faults import KEYWORDS
from trainyard.schema.formats import FORMATS
from trainyard.schema.profiles import profile_kinds, profile_schema
from trainyard.schema.shape import anchored

PROSE = {"$schema", "$id", "$comment", "title", "description", "default", "examples", "x-message"}
STRUCTURE = {"properties", "patternProperties", "items", "definitions", "$ref"}


def nodes(schema: Any, place: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each subschema with its place."""
    if not isinstance(schema, dict):
        return
    yield place, schema
    for keyword in ("properties", "patternProperties", "definitions"):
        for name, child in schema.get(keyword, {}).items():
            yield from nodes(child, f"{place}/{keyword}/{name}")
    for keyword in ("items", "additionalProperties", "propertyNames"):
        yield from nodes(schema.get(keyword), f"{place}/{keyword}")


def patterns(schema: dict[str, Any]) -> Iterator[str]:
    """Yield every pattern in a schema."""
    for _, node in nodes(schema):
        yield from node.get("patternProperties", ())
        if "pattern" in node:
            yield node["pattern"]


kinds = pytest.mark.parametrize("kind", profile_kinds())


def test_each_kind_of_profile_has_a_schema() -> None:
    assert {"allocations", "cluster", "hardware", "runtime", "team"} <= set(profile_kinds())


@kinds
def test_schema_is_valid_draft_seven(kind: str) -> None:
    Draft7Validator.check_schema(profile_schema(kind))
    assert profile_schema(kind)["$schema"] == "http://json-schema.org/draft-07/schema#"


@kinds
def test_schema_uses_keywords_with_messages_only(kind: str) -> None:
    """`oneOf`, `anyOf` and `allOf` have no message for their faults."""
    for place, node in nodes(profile_schema(kind)):
        assert set(node) <= KEYWORDS | PROSE | STRUCTURE, place


@kinds
def test_schema_allows_no_unknown_key(kind: str) -> None:
    for place, node in nodes(profile_schema(kind)):
        if node.get("type") == "object":
            assert "additionalProperties" in node, place
            assert node["additionalProperties"] is not True, place
        if "properties" in node:
            assert node["additionalProperties"] is False or "propertyNames" in node, place


@kinds
def test_references_are_internal_and_have_no_siblings(kind: str) -> None:
    """Draft 7 ignores the siblings of a reference."""
    schema = profile_schema(kind)
    for place, node in nodes(schema):
        if "$ref" in node:
            assert set(node) & KEYWORDS == set(), place
            assert node["$ref"].removeprefix("#/definitions/") in schema["definitions"], place


@kinds
def test_each_property_has_a_title_or_description(kind: str) -> None:
    schema = profile_schema(kind)
    for place, node in nodes(schema):
        for name, child in node.get("properties", {}).items():
            target = (
                schema["definitions"][child["$ref"].rpartition("/")[2]]
                if "$ref" in child
                else child
            )
            assert {"title", "description"} & (set(child) | set(target)), f"{place}/{name}"


@kinds
def test_patterns_are_anchored_ascii_and_linear(kind: str) -> None:
    """They have the same meaning in Python, Rust and an editor."""
    for pattern in patterns(profile_schema(kind)):
        assert re.fullmatch(r"\^[^$]*\$", pattern), f"{pattern}: not one ^...$"
        assert not re.search(r"\\[dDwWsSbB]|\(\?", pattern), (
            f"{pattern}: a class that isn't ASCII, or an extension"
        )
        assert not re.search(r"[*+][^()]*\)[*+]", pattern), f"{pattern}: nested quantifiers"
        re.compile(pattern)


@kinds
def test_every_list_and_mapping_has_a_limit(kind: str) -> None:
    """501 groups are a mistake or an attack."""
    for place, node in nodes(profile_schema(kind)):
        if "array" in types(node):
            assert "maxItems" in node, place
        if "object" in types(node) and (
            node["additionalProperties"] is not False or "patternProperties" in node
        ):
            assert "maxProperties" in node, place


SEVERAL_LINES = {"runtime #/properties/export/items"}
"""Texts that may have several lines: arguments of a command, e.g. a script after `sh -c`."""


@kinds
def test_texts_have_one_line(kind: str) -> None:
    """A line break would break comments and tables."""
    for place, node in nodes(profile_schema(kind)):
        if (
            "string" in types(node)
            and "enum" not in node
            and f"{kind} {place}" not in SEVERAL_LINES
        ):
            assert node.get("format") == "line" or "pattern" in node, place
    for pattern in patterns(profile_schema(kind)):
        assert not re.search(anchored({"pattern": pattern})["pattern"], "2027-02-03\n"), pattern
        assert not re.search(r"\[\^|(?<!\\)\.(?![^\[]*\])", pattern), (
            f"{pattern}: may match a line break"
        )


@kinds
def test_dates_are_checked_against_the_calendar(kind: str) -> None:
    for place, node in nodes(profile_schema(kind)):
        if re.search(node.get("pattern", "^$"), "2027-02-03") and not re.search(
            node["pattern"], "a"
        ):
            assert node.get("format") == "date", place


@kinds
def test_every_format_has_a_check(kind: str) -> None:
    assert {node["format"] for _, node in nodes(profile_schema(kind)) if "format" in node} <= set(
        FORMATS
    )


def types(node: dict[str, Any]) -> list[str]:
    """Return the types that a schema takes."""
    kinds_of = node.get("type", [])
    return [kinds_of] if isinstance(kinds_of, str) else kinds_of


def test_unknown_kind_is_a_tool_error() -> None:
    with pytest.raises(ToolError, match="starship"):
        profile_schema("starship")


def test_links_and_launchers_of_schemas_exist() -> None:
    fabric = profile_schema("cluster")["definitions"]["fabric"]["properties"]
    launcher = profile_schema("runtime")["properties"]["launcher"]
    held = profile_schema("allocations")["definitions"]["allocation"]["properties"]

    assert fabric["link"]["examples"] == list(PROVIDERS)
    assert not REFUSALS.keys() & PROVIDERS.keys()
    assert launcher["enum"] == sorted(LAUNCHERS)
    assert {link.ranges for link in LINKS.values()} <= fabric.keys()
    assert {link.field for link in LINKS.values()} <= held.keys()
