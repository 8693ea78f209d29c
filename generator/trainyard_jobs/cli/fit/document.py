"""Verdicts about TrainJobs as plain data for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trainyard.cli.places import Places
from trainyard_jobs.fit.verdict import Check, Verdict


def document(verdicts: Sequence[Verdict], places: Places) -> list[dict[str, Any]]:
    """Return the verdicts in the order of the file."""
    return [
        {
            "job": each.job,
            "namespace": each.namespace,
            "standing": each.standing,
            "pods": [
                {"role": pods.role, "count": pods.count, "requests": pods.requests}
                for pods in each.podsets
            ],
            "checks": [_check(check, places) for check in each.checks],
            "change": each.change,
        }
        for each in verdicts
    ]


def _check(check: Check, places: Places) -> dict[str, Any]:
    place = places.find(check.at) if check.at is not None else None
    return {
        "link": check.link,
        "standing": check.standing,
        "message": check.message,
        "file": place.file if place else None,
        "line": place.mark.line if place and place.mark else None,
        "limit": check.limit or None,
        "usage": check.usage or None,
        "available": check.available or None,
        "repair": check.repair,
    }
