"""Verdicts about TrainJobs as plain data for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trainyard.cli.places import Places
from trainyard.model.quantity import format_amount
from trainyard_jobs.fit.pods import Pods
from trainyard_jobs.fit.verdict import Check, Verdict


def document(verdicts: Sequence[Verdict], places: Places) -> list[dict[str, Any]]:
    """Return the verdicts in the order of the file."""
    return [_verdict(verdict, places) for verdict in verdicts]


def _verdict(verdict: Verdict, places: Places) -> dict[str, Any]:
    return {
        "job": verdict.job,
        "namespace": verdict.namespace,
        "standing": verdict.standing,
        "pods": list(map(_pods, verdict.podsets)),
        "checks": [_check(check, places) for check in verdict.checks],
        "change": verdict.change,
    }


def _pods(pods: Pods) -> dict[str, Any]:
    requests = {name: format_amount(name, amount) for name, amount in pods.requests.items()}
    return {"role": pods.role, "count": pods.count, "requests": requests}


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
