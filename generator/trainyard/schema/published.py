"""The JSON Schemas of what commands print as JSON, for programs that read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trainyard.shipped import shipped

VERSION = 2
"""Raised when a key goes or changes its meaning; a new key does not raise it."""
_FOLDER = Path(__file__).parent / "documents"
_SUFFIX = ".schema.json"
_SHARED = {"diagnostics": "findings", "change": "diff", "drift": "diff"}
"""Parts of several formats, and the format whose schema defines them."""


def document_kinds() -> tuple[str, ...]:
    """Return the formats of what commands print as JSON, sorted."""
    names = (path.name for path in _FOLDER.glob(f"*{_SUFFIX}"))
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names))


def document_schema(kind: str) -> dict[str, Any]:
    """Return the schema of a format, e.g. ``capacity``: the envelope around its result.

    Raises:
        ToolError: a schema is missing or was changed.
    """
    result = _result(kind)
    definitions = result.pop("definitions", {})
    for part, home in _SHARED.items():
        if part in result["properties"]:
            definitions |= _result(home)["definitions"]
    envelope = {
        "format": {"const": kind, "description": "What the result is, and the name of its schema."},
        "version": {"const": VERSION, "description": "Version of the form."},
        "result": result,
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": result.pop("title"),
        "description": result.pop("description"),
        "type": "object",
        "additionalProperties": False,
        "required": [*envelope],
        "properties": envelope,
        "definitions": definitions,
    }


def _result(kind: str) -> dict[str, Any]:
    """Return the schema of a format's result, which is all that differs between formats."""
    schema: dict[str, Any] = json.loads(shipped(_FOLDER, "*.json")[f"{kind}{_SUFFIX}"])
    return schema
