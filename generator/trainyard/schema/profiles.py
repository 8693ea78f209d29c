"""The JSON Schemas of profiles: what editors complete from and `trainyard.schema.shape` checks against."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from trainyard.diagnostics import ToolError
from trainyard.shipped import shipped

_FOLDER = Path(__file__).parent


def profile_kinds() -> tuple[str, ...]:
    """Return the kinds of profile that have a schema, sorted: ``cluster``, ``hardware``, ..."""
    return tuple(
        sorted(path.name.removesuffix(".schema.json") for path in _FOLDER.glob("*.schema.json"))
    )


@cache
def profile_schema(kind: str) -> dict[str, Any]:
    """Return the schema of one kind of profile, e.g. ``team``; the same object at each call, not to be changed.

    Raises:
        ToolError: there is none of that kind, or a schema is missing or was changed.
    """
    schemas = shipped(_FOLDER, "*.json")
    if f"{kind}.schema.json" not in schemas:
        raise ToolError(f"this installation has no schema of `{kind}` profiles")
    schema: dict[str, Any] = json.loads(schemas[f"{kind}.schema.json"])
    return schema
