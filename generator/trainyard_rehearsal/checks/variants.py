"""A sample job after a change: what both good and bad ones are made with."""

from __future__ import annotations

import json
from dataclasses import dataclass

from trainyard.model.quantity import format_amount
from trainyard.model.space import Sample
from trainyard_rehearsal.control_plane.api import Body

OWN = "sdk.example.com/job"
"""Whom a user's patches are of."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Something that somebody asks for.

    Args:
        display: what is special, as a reader knows it.
        body: the whole TrainJob.
        words: in the refusal; empty for what must be let through.
    """

    display: str
    body: Body
    words: str = ""


def patches_runtimes(sample: Sample) -> bool:
    """Tell whether jobs change their pods by ``runtimePatches``, not by ``podTemplateOverrides``."""
    return sample.space.cluster.release.patches_runtimes


def with_pod(sample: Sample, body: Body, pod: Body) -> Body:
    """Return a job whose only change to its pods is this one, in its release's form."""
    if patches_runtimes(sample):
        change = patched(OWN, [{"name": "node", "template": {"spec": {"template": {"spec": pod}}}}])
    else:
        change = {"podTemplateOverrides": [{"targetJobs": [{"name": "node"}], "spec": pod}]}
    return with_change(body, {"spec": change})


def with_change(body: Body, change: Body) -> Body:
    """Return an object after a merge patch (RFC 7396)."""
    merged = {key: value for key, value in body.items() if key not in change}
    for key, value in change.items():
        if isinstance(value, dict):
            old = body.get(key)
            merged[key] = with_change(old if isinstance(old, dict) else {}, value)
        elif value is not None:
            merged[key] = value
    return merged


def shown(body: Body) -> str:
    """Return a change as a reader knows it."""
    return json.dumps(body)


def patched(manager: str, jobs: list[Body]) -> Body:
    """Return the part of a TrainJob that changes jobs of its JobSet in somebody's name."""
    return {"runtimePatches": [patch(manager, {"spec": {"replicatedJobs": jobs}})]}


def patch(manager: str, template: Body) -> Body:
    """Return one patch of a runtime in somebody's name."""
    return {"manager": manager, "trainingRuntimeSpec": {"template": template}}


def whole_node(sample: Sample) -> Body:
    """Return all that a pod of a job has of its node."""
    return {name: format_amount(name, amount) for name, amount in sample.launch.per_node.items()}


def asking(requests: Body, limits: Body) -> Body:
    """Return the part of a trainer that asks for resources, with one rank a node."""
    return {"resourcesPerNode": {"requests": requests, "limits": limits}, "numProcPerNode": 1}
