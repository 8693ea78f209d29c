"""The schemas of profiles: an editor completes from them, so they must be closed, told and tame."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft7Validator

from trainyard.diagnostics import ToolError
from trainyard.model.launcher import LAUNCHERS
from trainyard.model.link import LINKS
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


def test_profile_kinds_names_all() -> None:
    """Each kind of profile of the design has a schema."""
    assert {"allocations", "cluster", "hardware", "runtime", "team"} <= set(profile_kinds())


@kinds
def test_profile_schema_is_draft_seven(kind: str) -> None:
    """It is valid itself, and says which draft an editor must read it by."""
    Draft7Validator.check_schema(profile_schema(kind))
    assert profile_schema(kind)["$schema"] == "http://json-schema.org/draft-07/schema#"


@kinds
def test_profile_schema_uses_known_keywords(kind: str) -> None:
    """Every keyword has words for its fault: no ``oneOf``, ``anyOf``, ``allOf``."""
    for place, node in nodes(profile_schema(kind)):
        assert set(node) <= KEYWORDS | PROSE | STRUCTURE, place


@kinds
def test_profile_schema_is_closed(kind: str) -> None:
    """No mapping takes a key that the schema doesn't speak of."""
    for place, node in nodes(profile_schema(kind)):
        if node.get("type") == "object":
            assert "additionalProperties" in node, place
            assert node["additionalProperties"] is not True, place
        if "properties" in node:
            assert node["additionalProperties"] is False or "propertyNames" in node, place


@kinds
def test_profile_schema_refers_only_inside(kind: str) -> None:
    """Each reference leads to a definition of the same file, and stands alone since draft 7 ignores
    its siblings."""
    schema = profile_schema(kind)
    for place, node in nodes(schema):
        if "$ref" in node:
            assert set(node) & KEYWORDS == set(), place
            assert node["$ref"].removeprefix("#/definitions/") in schema["definitions"], place


@kinds
def test_profile_schema_tells_each_property(kind: str) -> None:
    """An editor can say of each key what it is."""
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
def test_profile_schema_patterns_are_tame(kind: str) -> None:
    """Patterns match the whole text, in ASCII, in linear time, and mean the same in Python, Rust
    and an editor."""
    for pattern in patterns(profile_schema(kind)):
        assert re.fullmatch(r"\^[^$]*\$", pattern), f"{pattern}: not one ^...$"
        assert not re.search(r"\\[dDwWsSbB]|\(\?", pattern), (
            f"{pattern}: a class that isn't ASCII, or an extension"
        )
        assert not re.search(r"[*+][^()]*\)[*+]", pattern), f"{pattern}: nested quantifiers"
        re.compile(pattern)


@kinds
def test_profile_schema_limits_every_list_and_mapping(kind: str) -> None:
    """A list or mapping whose items the user chooses has a limit: 501 groups are a mistake or an
    attack."""
    for place, node in nodes(profile_schema(kind)):
        if "array" in types(node):
            assert "maxItems" in node, place
        if "object" in types(node) and (
            node["additionalProperties"] is not False or "patternProperties" in node
        ):
            assert "maxProperties" in node, place


SEVERAL_LINES = {"runtime #/properties/export/items"}
"""Texts that may have several lines: arguments of a command, such as a script after `sh -c`."""


@kinds
def test_profile_schema_wants_one_line(kind: str) -> None:
    """A text without pattern is one line, and a pattern refuses a line break: it would break
    comments and tables."""
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
def test_profile_schema_wants_real_dates(kind: str) -> None:
    """Whatever takes the form of a date must be one of the calendar."""
    for place, node in nodes(profile_schema(kind)):
        if re.search(node.get("pattern", "^$"), "2027-02-03") and not re.search(
            node["pattern"], "a"
        ):
            assert node.get("format") == "date", place


@kinds
def test_profile_schema_has_known_formats(kind: str) -> None:
    """A format that the checker does not know would check nothing."""
    assert {node["format"] for _, node in nodes(profile_schema(kind)) if "format" in node} <= set(
        FORMATS
    )


def types(node: dict[str, Any]) -> list[str]:
    """Return the types that a schema takes."""
    kinds_of = node.get("type", [])
    return [kinds_of] if isinstance(kinds_of, str) else kinds_of


def test_profile_schema_of_unknown_kind_is_broken_tool() -> None:
    """A kind without a schema never passes for valid."""
    with pytest.raises(ToolError, match="starship"):
        profile_schema("starship")


def test_words_of_providers_are_those_that_there_are() -> None:
    """A link or launcher that a profile may name and nobody provides would end in a traceback."""
    fabric = profile_schema("cluster")["definitions"]["fabric"]["properties"]
    launcher = profile_schema("runtime")["properties"]["launcher"]
    held = profile_schema("allocations")["definitions"]["allocation"]["properties"]

    assert fabric["link"]["enum"] == sorted(LINKS)
    assert launcher["enum"] == sorted(LAUNCHERS)
    assert {link.ranges for link in LINKS.values()} <= fabric.keys()
    assert {link.field for link in LINKS.values()} <= held.keys()
