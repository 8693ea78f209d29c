"""Hints on lines of the ledger, profiles/allocations.yaml."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from trainyard.rules.change._fixes import NEVER_MERGED


def add_line(section: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return the hint on a line that is gone."""
    return (
        f"Add `{name}: {json.dumps(entry)}` to `{section}` in profiles/allocations.yaml; a retired "
        f"team keeps its line. {NEVER_MERGED}"
    )
