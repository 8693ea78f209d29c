"""The JSON Schemas of profiles: what editors complete from and `generator.schema.shape` checks against."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from generator.diagnostics import ToolError

_FOLDER = Path(__file__).parent


def profile_kinds() -> tuple[str, ...]:
    """Return the kinds of profile that have a schema, sorted: ``cluster``, ``hardware``, ..."""
    return tuple(sorted(path.name.removesuffix(".schema.json") for path in _FOLDER.glob("*.schema.json")))


@cache
def profile_schema(kind: str) -> dict[str, Any]:
    """Return the schema of one kind of profile, e.g. ``team``; the same object at each call, not to be changed.

    Raises:
        ToolError: the installation lacks the schema or holds a broken one.
    """
    try:
        schema: dict[str, Any] = json.loads((_FOLDER / f"{kind}.schema.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ToolError(f"the schema of `{kind}` profiles cannot be read: {error}") from error
    return schema
