"""The JSON Schemas of profiles, for editors and for `trainyard.schema.shape`."""

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
    suffix = ".schema.json"
    files = (path.name for path in _FOLDER.glob(f"*{suffix}"))
    return tuple(sorted(name.removesuffix(suffix) for name in files))


@cache
def profile_schema(kind: str) -> dict[str, Any]:
    """Return the schema of one kind of profile, e.g. ``team``.

    Each call returns the same object. Do not change it.

    Raises:
        ToolError: there is none of that kind, or a schema is missing or was changed.
    """
    schemas = shipped(_FOLDER, "*.json")
    if f"{kind}.schema.json" not in schemas:
        raise ToolError(f"this installation has no schema of `{kind}` profiles")
    schema: dict[str, Any] = json.loads(schemas[f"{kind}.schema.json"])
    return schema
