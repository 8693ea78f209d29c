"""Resolve what a cluster's tree spares of the workloads that were there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model.adoption import Adoption


def resolve_adoption(fields: Mapping[str, Any], at: Pointer) -> Adoption:
    """Return what `adopt` says; without it nothing is spared."""
    return Adoption(
        at,
        fields.get("pods", "deny"),
        fields.get("queues") == "site",
        fields.get("until", ""),
        fields.get("reason", ""),
        tuple(sorted(fields.get("objects", ()))),
    )
