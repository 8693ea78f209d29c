"""Manifests against the schemas of their release, with jsonschema-rs: tens of microseconds for a valid one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from generator.diagnostics import Step, ToolError

_RELEASES = Path(__file__).parents[1] / "releases"
_API_VERSION = re.compile(r"([a-z0-9.-]+/)?[a-z0-9]+", re.ASCII)
_KIND = re.compile(r"[A-Za-z0-9]+", re.ASCII)

_LONGEST = 300
"""Characters of the library's own message."""

Fault = tuple[tuple[Step, ...], str]
"""Path into a manifest and a message that names it."""


def schema_folder(release: str) -> Path:
    """Return where the schemas of a release stand: ``<group>/<kind>_<version>.json``.

    The core group stands under its version, as kubeconform names it, so that one template finds every kind:
    ``{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json``.

    Raises:
        ToolError: there is no such release.
    """
    folder = _RELEASES / release / "schemas"
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", release) or not folder.is_dir():
        raise ToolError(f"this installation has no schemas of the release {release!r}")
    return folder


def check_manifest(release: str, body: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what the API server would refuse, or drop in silence, in a manifest.

    Args:
        release: e.g. ``openshift-ai-3.5``.
        body: the manifest as plain data.

    Raises:
        ToolError: the release is missing, or its schema is broken.
    """
    api_version, kind = body.get("apiVersion"), body.get("kind")
    validator = _validator(release, str(api_version), str(kind))
    if validator is None:
        yield (), f"no schema for {api_version} {kind} in the release {release}"
    elif not validator.is_valid(body):
        for error in validator.iter_errors(body):
            yield from _faults(error)


@cache
def _validator(release: str, api_version: str, kind: str) -> jsonschema_rs.Draft7Validator | None:
    """Return the compiled schema of a kind, or nothing when the release doesn't know the kind."""
    folder = schema_folder(release)
    if not _API_VERSION.fullmatch(api_version) or not _KIND.fullmatch(kind):
        return None
    parts = api_version.split("/")
    path = folder / parts[0] / f"{kind.lower()}_{parts[-1]}.json"
    if not path.is_file():
        return None
    try:
        # The standard engine matches in linear time; a manifest may hold text that a tenant chose.
        engine = jsonschema_rs.RegexOptions()
        return jsonschema_rs.Draft7Validator(json.loads(path.read_bytes()), offline=True, pattern_options=engine)
    except ValueError as error:
        raise ToolError(f"the schema {path.relative_to(_RELEASES).as_posix()} is broken: {error}") from error


def _faults(error: jsonschema_rs.ValidationError) -> Iterator[Fault]:
    """Yield one fault for each unknown field, and one for any other error."""
    path, told = tuple(error.instance_path), error.kind
    if isinstance(told, jsonschema_rs.ValidationErrorKind.AdditionalProperties):
        for field in sorted(told.unexpected):
            yield (*path, field), f"{_prefix(path)}unknown field `{field}`"
    elif isinstance(told, jsonschema_rs.ValidationErrorKind.Required):
        yield path, f"{_prefix(path)}missing field `{str(told.property).strip(chr(34))}`"
    else:
        # The message repeats the value, which can be a whole manifest.
        yield path, f"{_prefix(path)}{error.message[:_LONGEST]}"


def _prefix(path: Sequence[Step]) -> str:
    """Return a path as kubectl writes it, with a colon: ``spec.resourceGroups[0].flavors[0]: ``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else _field(step) for step in path).removeprefix(".")
    return f"{text}: " if text else ""


def _field(name: str) -> str:
    return f".{name}" if re.fullmatch(r"[A-Za-z0-9_-]+", name) else f'["{name}"]'
