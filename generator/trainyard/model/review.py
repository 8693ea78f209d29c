"""Limits of a change that its reviewers set."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Review:
    """Limits that `trainyard diff` reads from the base (``review`` of ``trainyard.yaml``).

    Args:
        deleted: percent of a cluster's objects that a change may delete without a finding.
        errors: ids of rules about changes whose findings are errors, sorted.
    """

    deleted: int = 10
    errors: tuple[str, ...] = ()
