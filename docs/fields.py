"""Write the page of every field of every profile, from their JSON Schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from docs.markdown import anchor, cell
from trainyard.schema.profiles import profile_kinds, profile_schema


def profile_fields() -> Iterator[str]:
    """Yield the lines of the page."""
    yield from (
        "# Profiles",
        "",
        "Every field of every profile.",
        "*Required* means that the field has no default.",
        "",
        "| profile | content |",
        "|---|---|",
    )
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
        yield from ("| field | meaning | values | default |", "|---|---|---|---|")
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
    for name, member in (*members.items(), *_open_members(schema)):
        field = _resolved(member, definitions)
        here = f"{path}.{name}".lstrip(".")
        yield (
            f"| `{here}` | {_meaning(field)} | {_values(field, definitions)} | "
            f"{_default(field, name in required)} |"
        )
        yield from _fields(field, definitions, here)
        yield from _fields(_resolved(field.get("items", {}), definitions), definitions, f"{here}[]")


def _open_members(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the schema of each member whose key the user chooses."""
    yield from (("<name>", each) for each in schema.get("patternProperties", {}).values())
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        yield "<name>", additional


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    return definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _meaning(field: Mapping[str, Any]) -> str:
    title, description = field.get("title", ""), field.get("description", "")
    return cell(f"**{title}**. {description}" if title else description)


def _values(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """Return the values that a field takes, in the schema's own words where it has a pattern."""
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    words = field.get("x-message") or _types(field, definitions)
    limits = [text.format(field[key]) for key, text in _LIMITS.items() if key in field]
    return cell("; ".join(filter(None, [words, *limits])))


def _types(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    kinds = field.get("type", [])
    names = [_TYPES[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    words = " or ".join(names)
    if field.get("format") == "line":
        words = words.replace("text", "one line of text")
    if "items" in field:
        words += f" of: {_values(_resolved(field['items'], definitions), definitions)}"
    return words


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
    if isinstance(default, list):
        default = ", ".join(default)
    if isinstance(default, dict):
        default = f"{{{', '.join(f'{key}: {value}' for key, value in default.items())}}}"
    return "" if default is None else f"`{default}`"
