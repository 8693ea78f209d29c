"""The page of every field of every profile, from their JSON Schemas."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.schema.profiles import profile_kinds, profile_schema


def profile_fields() -> Iterator[str]:
    """Yield the lines of the page."""
    yield from (
        "# Profiles",
        "",
        "Every field of every profile. *Required* means that the field has no default.",
    )
    yield from ("", "| profile | what it says |", "|---|---|")
    for kind in profile_kinds():
        schema = profile_schema(kind)
        yield f"| [`{_PLACES[kind]}`](#{anchor(schema['title'])}) | {cell(schema['description'])} |"
    for kind in profile_kinds():
        schema = profile_schema(kind)
        yield from (
            "",
            f"## {schema['title']}",
            "",
            f"`{_PLACES[kind]}`. {schema['description']}",
            "",
        )
        yield from ("| field | what | takes | default |", "|---|---|---|---|")
        yield from _fields(schema, schema.get("definitions", {}), "")


_PLACES = {
    "allocations": "profiles/allocations.yaml",
    "cluster": "profiles/clusters/NAME.yaml",
    "compliance": "profiles/compliance/NAME.yaml",
    "component": "profiles/components/NAME/kustomization.yaml",
    "hardware": "profiles/hardware/NAME.yaml",
    "runtime": "profiles/runtimes/NAME.yaml",
    "team": "profiles/teams/NAME.yaml",
    "trainyard": "profiles/trainyard.yaml",
    "waivers": "profiles/waivers.yaml",
}


def _fields(schema: Mapping[str, Any], definitions: Mapping[str, Any], path: str) -> Iterator[str]:
    """Yield a row for each field of a schema; ``<name>`` is a key that the user chooses."""
    members = schema.get("properties", {})
    required = schema.get("required", [])
    open_keys = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]
    chosen = [("<name>", each) for each in open_keys if isinstance(each, dict)]
    for name, member in (*members.items(), *chosen):
        field = _resolved(member, definitions)
        here = f"{path}.{name}".lstrip(".")
        yield (
            f"| `{here}` | {_what(field)} | {_takes(field, definitions)} | "
            f"{_default(field, name in required)} |"
        )
        yield from _fields(field, definitions, here)
        yield from _fields(_resolved(field.get("items", {}), definitions), definitions, f"{here}[]")


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    return definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _what(field: Mapping[str, Any]) -> str:
    title, description = field.get("title", ""), field.get("description", "")
    return cell(f"**{title}**. {description}" if title else description)


def _takes(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """Return in words what a field takes; the schema's own words where it has a pattern."""
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    kinds = field.get("type", "")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    words = " or ".join(_TYPES[kind] for kind in kinds if kind)
    if field.get("format") == "line":
        words = words.replace("text", "one line of text")
    limits = [text.format(field[key]) for key, text in _LIMITS.items() if key in field]
    if "items" in field:
        words += f" of: {_takes(_resolved(field['items'], definitions), definitions)}"
    return cell("; ".join(filter(None, [field.get("x-message", words), *limits])))


_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "object": "a mapping",
    "string": "text",
}
_LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "maxLength": "at most {} characters",
    "maxItems": "at most {} items",
    "maxProperties": "at most {} keys",
}


def _default(field: Mapping[str, Any], required: bool) -> str:
    if required:
        return "*required*"
    default = field.get("default")
    return (
        ""
        if default is None
        else f"`{', '.join(default) if isinstance(default, list) else default}`"
    )


def anchor(title: str) -> str:
    """Return the anchor that GitHub and GitLab give a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def cell(text: str) -> str:
    """Return text as a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
