"""Validation of manifests against the schemas of their release.

This uses jsonschema-rs, which takes tens of microseconds for a valid manifest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from trainyard.diagnostics import Step, ToolError
from trainyard.shipped import shipped

_HERE = Path(__file__).parent
_RELEASES = _HERE.parent / "releases"
_API_VERSION = re.compile(r"([a-z0-9.-]+/)?[a-z0-9]+", re.ASCII)
_KIND = re.compile(r"[A-Za-z0-9]+", re.ASCII)

_LONGEST = 300
"""Maximum number of characters of a message from the library."""

Fault = tuple[tuple[Step, ...], str]
"""Path into a manifest and a message that names it."""


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


def check_manifest(release: str, body: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield the fields of a manifest that the API server would refuse or silently drop.

    Args:
        release: e.g. ``openshift-ai-3.5``.
        body: the manifest as plain data.

    Raises:
        ToolError: the release is missing, or a schema of it is missing or was changed.
    """
    api_version, kind = body.get("apiVersion"), body.get("kind")
    validator = _validator(release, str(api_version), str(kind))
    if validator is None:
        yield (), f"no schema for {api_version} {kind} in the release {release}"
    elif not validator.is_valid(body):
        for error in validator.iter_errors(body):
            yield from _faults(error)


def check_committed(body: Any) -> str:
    """Return why a committed object can't be compared with the new tree; empty when it can.

    Args:
        body: the object as plain data, written by any version of Trainyard.

    Raises:
        ToolError: the schema is missing or was changed.
    """
    error = next(_committed().iter_errors(body), None)
    if error is None:
        return ""
    return next((message for _, message in _faults(error)), "")


@cache
def _committed() -> jsonschema_rs.Draft7Validator:
    return _compiled(shipped(_HERE, "*.json")["committed.json"])


@cache
def _validator(release: str, api_version: str, kind: str) -> jsonschema_rs.Draft7Validator | None:
    """Return the compiled schema of a kind, or None when the release doesn't have the kind."""
    schemas = _schemas(release)
    if not _API_VERSION.fullmatch(api_version) or not _KIND.fullmatch(kind):
        return None
    parts = api_version.split("/")
    schema = schemas.get(f"schemas/{parts[0]}/{kind.lower()}_{parts[-1]}.json")
    return _compiled(schema) if schema is not None else None


def _compiled(schema: bytes) -> jsonschema_rs.Draft7Validator:
    # The standard engine matches in linear time; a manifest may hold text that a tenant chose.
    engine = jsonschema_rs.RegexOptions()
    return jsonschema_rs.Draft7Validator(json.loads(schema), offline=True, pattern_options=engine)


def _faults(error: jsonschema_rs.ValidationError) -> Iterator[Fault]:
    """Yield one fault for each unknown field, and one for any other error."""
    path, fault = tuple(error.instance_path), error.kind
    if isinstance(fault, jsonschema_rs.ValidationErrorKind.AdditionalProperties):
        for field in sorted(fault.unexpected):
            yield (*path, field), f"{_prefix(path)}unknown field `{field}`"
    elif isinstance(fault, jsonschema_rs.ValidationErrorKind.Required):
        yield path, f"{_prefix(path)}missing field `{str(fault.property).strip(chr(34))}`"
    else:
        # The message repeats the value, which can be a whole manifest.
        yield path, f"{_prefix(path)}{error.message[:_LONGEST]}"


def _prefix(path: Sequence[Step]) -> str:
    """Return a path as kubectl writes it, with a colon: ``spec.resourceGroups[0].flavors[0]: ``."""
    text = "".join(map(_step, path)).removeprefix(".")
    return f"{text}: " if text else ""


def _step(step: Step) -> str:
    """Return one step of a path: ``.name``, ``["odd name"]`` or ``[0]``."""
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if re.fullmatch(r"[A-Za-z0-9_-]+", step) else f'["{step}"]'
