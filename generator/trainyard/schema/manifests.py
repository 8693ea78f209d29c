"""Validation of manifests against the schemas of their release.

This uses jsonschema-rs, which takes tens of microseconds for a valid manifest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from trainyard.diagnostics import Step, ToolError
from trainyard.model.nearest import nearest
from trainyard.model.release import Schemas
from trainyard.shipped import shipped

_HERE = Path(__file__).parent
_RELEASES = _HERE.parent / "releases"
_API_VERSION = re.compile(r"([a-z0-9.-]+/)?[a-z0-9]+", re.ASCII)
_KIND = re.compile(r"[A-Za-z0-9]+", re.ASCII)

_TYPE = jsonschema_rs.ValidationErrorKind.Type
_LONGEST = 300
"""Maximum number of characters of a message from the library."""

Fault = tuple[tuple[Step, ...], str]
"""Path into a manifest and a message that names it."""


@dataclass(frozen=True, slots=True)
class _Schema:
    """A schema as data, and compiled."""

    document: Any
    validator: jsonschema_rs.Draft7Validator

    def fields(self, path: Sequence[Step]) -> Sequence[str]:
        """Return the fields of the object that the last keyword of a path refuses."""
        part = self.document
        for step in path[:-1]:
            part = part[step]
        return list(part.get("properties", ()))


def schema_folder(release: str) -> Path:
    """Return the folder of a release's schemas: ``<group>/<kind>_<version>.json``.

    The core group's folder is named after its version, as kubeconform does, so that one template
    finds every kind: ``{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json``.

    Raises:
        ToolError: there is no such release, or a schema of it is missing or was changed.
    """
    _schemas(release)
    return _RELEASES / release / "schemas"


def _schemas(release: str) -> Mapping[str, bytes]:
    """Return the schemas of a release by path, e.g. ``schemas/v1/namespace_v1.json``."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", release) or not (_RELEASES / release).is_dir():
        raise ToolError(f"this installation has no schemas of the release {release!r}")
    return shipped(_RELEASES / release, "schemas/**/*.json")


def check_manifest(schemas: Schemas, body: Mapping[str, Any], release: str = "") -> Iterator[Fault]:
    """Yield the fields of a manifest that the API server would refuse or silently drop.

    Args:
        schemas: of a release.
        body: the manifest as plain data.
        release: its name for messages, where it is not the one that has the schemas.

    Raises:
        ToolError: the release is missing, or a schema of it is missing or was changed.
    """
    api_version, kind = body.get("apiVersion"), body.get("kind")
    schema = _schema_of(schemas, str(api_version), str(kind))
    if schema is None:
        named = release or schemas.base
        yield (), f"no schema for {api_version} {kind} in the release {named}"
    elif not schema.validator.is_valid(body):
        for error in schema.validator.iter_errors(body):
            yield from _faults(schema, error)


def check_committed(body: Any) -> str:
    """Return why a committed object can't be compared with the new tree; empty when it can.

    Args:
        body: the object as plain data, written by any version of Trainyard.

    Raises:
        ToolError: the schema is missing or was changed.
    """
    schema = _committed()
    error = next(schema.validator.iter_errors(body), None)
    if error is None:
        return ""
    return next((message for _, message in _faults(schema, error)), "")


@cache
def _committed() -> _Schema:
    return compiled(shipped(_HERE, "*.json")["committed.json"])


def _schema_of(schemas: Schemas, api_version: str, kind: str) -> _Schema | None:
    """Return the schema of a kind, or None when the release doesn't have the kind."""
    own = schemas.own.get(path_of(api_version, kind)) if schemas.own else None
    return _schema(schemas.base, api_version, kind) if own is None else compiled(own)


@cache
def _schema(release: str, api_version: str, kind: str) -> _Schema | None:
    """Return the schema of a kind, or None when the shipped release doesn't have the kind."""
    schemas = _schemas(release)
    if not _API_VERSION.fullmatch(api_version) or not _KIND.fullmatch(kind):
        return None
    schema = schemas.get(path_of(api_version, kind))
    return compiled(schema) if schema is not None else None


def path_of(api_version: str, kind: str) -> str:
    """Return the path of a kind's schema in the folder of a release."""
    parts = api_version.split("/")
    return f"schemas/{parts[0]}/{kind.lower()}_{parts[-1]}.json"


def effective(schemas: Schemas) -> dict[str, bytes]:
    """Return each schema of a release by path, those of the release that it extends included.

    Raises:
        ToolError: the shipped release is missing, or a schema of it is missing or was changed.
    """
    return {**_schemas(schemas.base), **schemas.own}


@cache
def compiled(schema: bytes) -> _Schema:
    """Return a schema, compiled.

    Raises:
        ValueError: it is not JSON, or not a schema.
    """
    # The standard engine matches in linear time; a manifest may hold text that a tenant chose.
    engine = jsonschema_rs.RegexOptions()
    document = json.loads(schema)
    validator = jsonschema_rs.Draft7Validator(document, offline=True, pattern_options=engine)
    return _Schema(document, validator)


def _faults(schema: _Schema, error: jsonschema_rs.ValidationError) -> Iterator[Fault]:
    """Yield one fault for each unknown field, and one for any other error."""
    path, fault = tuple(error.instance_path), error.kind
    if isinstance(fault, jsonschema_rs.ValidationErrorKind.AdditionalProperties):
        known = schema.fields(error.schema_path)
        for field in sorted(fault.unexpected):
            near = nearest(field, known)
            hint = f": did you mean `{near}`?" if near else ""
            yield (*path, field), f"{_prefix(path)}unknown field `{field}`{hint}"
    elif isinstance(fault, jsonschema_rs.ValidationErrorKind.Required):
        yield path, f"{_prefix(path)}missing field `{str(fault.property).strip(chr(34))}`"
    elif _is_text_without_quotes(error):
        value = json.dumps(error.instance)
        yield path, f'{_prefix(path)}{value} is not text: write it in quotes, "{value}"'
    else:
        # The message repeats the value, which can be a whole manifest.
        yield path, f"{_prefix(path)}{error.message[:_LONGEST]}"


def _is_text_without_quotes(error: jsonschema_rs.ValidationError) -> bool:
    """Return whether YAML reads as a number or a truth value what must be text."""
    fault, value = error.kind, error.instance
    types = getattr(fault, "types", ()) if isinstance(fault, _TYPE) else ()
    # A longer number is not a slip, and its message would repeat all its digits.
    is_short = isinstance(value, (int, float)) and abs(value) < 1 << 63
    return list(types) == ["string"] and is_short


def _prefix(path: Sequence[Step]) -> str:
    """Return a path as kubectl writes it, with a colon: ``spec.resourceGroups[0].flavors[0]: ``."""
    text = "".join(map(_step, path)).removeprefix(".")
    return f"{text}: " if text else ""


def _step(step: Step) -> str:
    """Return one step of a path: ``.name``, ``["odd name"]`` or ``[0]``."""
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if re.fullmatch(r"[A-Za-z0-9_-]+", step) else f'["{step}"]'
