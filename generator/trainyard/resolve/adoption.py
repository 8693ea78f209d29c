"""Resolve what the tree of a cluster or team spares of the workloads that were there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model.adoption import Adoption, Stage
from trainyard.model.state import State


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


def resolve_stage(team: Mapping[str, Any], at: Pointer) -> Stage:
    """Return the stage that a team's profile says; without one it is held to all rules."""
    if "adopt" not in team:
        return Stage(at)
    stated = team["adopt"]
    return Stage(at / "adopt", stated["stage"], stated["until"], stated["reason"])


def held_by(stage: Stage, team: str) -> list[State]:
    """Return the state that a team's stage gives its queues; nothing where they are open."""
    whose = f"team {team} at stage observe"
    return [State("held", stage.at / "stage", whose)] if stage.observes else []
