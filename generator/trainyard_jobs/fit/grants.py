"""The namespace that a job belongs to, and what the team's profile grants it there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trainyard.model.lookup import mapping
from trainyard.model.space import Grant, Space
from trainyard.model.team import Team

RUNTIME = "ClusterTrainingRuntime"
OWN_RUNTIME = "TrainingRuntime"


def runtime_named(body: dict[str, Any], team: Team) -> str:
    """Return the runtime that decides a job's pods and limits; empty for one of another kind.

    A team's own runtime ``RUNTIME.NAME`` differs from RUNTIME in images and variables only.
    """
    reference = mapping(body, "spec", "runtimeRef")
    kind, name = reference.get("kind", RUNTIME), str(reference.get("name"))
    if kind == OWN_RUNTIME and team.own_runtimes and "." in name:
        return name.partition(".")[0]
    return name if kind == RUNTIME else ""


def grant_of(body: dict[str, Any], space: Space) -> Grant | None:
    """Return the limits of jobs with a job's runtime; None when a namespace may not use it."""
    name = runtime_named(body, space.team)
    return next((grant for grant in space.grants if grant.launch.name == name), None)


def home_of(body: dict[str, Any], spaces: Sequence[Space], preferred: Space | None = None) -> Space:
    """Return the namespace of a team that may use a job's runtime.

    Args:
        body: the job.
        spaces: all of the team; the main one is the first.
        preferred: taken where it may use the runtime, or none may.
    """
    first = preferred or spaces[0]
    return next((space for space in (first, *spaces) if grant_of(body, space)), first)
