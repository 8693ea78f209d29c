"""The JSON Schemas of what commands print as JSON, for programs that read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trainyard.shipped import shipped

_FOLDER = Path(__file__).parent / "documents"
_SUFFIX = ".schema.json"


def document_kinds() -> tuple[str, ...]:
    """Return the commands whose JSON has a schema, and ``findings`` for the others, sorted."""
    names = (path.name for path in _FOLDER.glob(f"*{_SUFFIX}"))
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names))


def document_schema(command: str) -> dict[str, Any]:
    """Return the schema of what a command prints, e.g. ``capacity``.

    Raises:
        ToolError: a schema is missing or was changed.
    """
    schema: dict[str, Any] = json.loads(shipped(_FOLDER, "*.json")[f"{command}{_SUFFIX}"])
    return schema
