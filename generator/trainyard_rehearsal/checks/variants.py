"""Sample jobs after a change, harmless or hostile."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from trainyard.model.quantity import format_amount
from trainyard.model.space import Sample
from trainyard_rehearsal.control_plane.api import Body

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
"""Label of a job that names its LocalQueue."""

_OURS = ("name", "namespace", "labels", "annotations")

USER_MANAGER = "sdk.example.com/job"
"""Manager name of a user's patches."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A changed sample job.

    Args:
        display: the change, for messages.
        body: the whole TrainJob.
        refusal: part of the expected refusal; empty when the job must be accepted.
    """

    display: str
    body: Body
    refusal: str = ""


def variant(body: Body, part: str, change: Body, refusal: str = "") -> Variant:
    """Return a job after a change to its ``metadata``, ``spec`` or ``trainer``."""
    patch = {"spec": {"trainer": change}} if part == "trainer" else {part: change}
    return Variant(f"{part} {as_json(change)}", with_change(body, patch), refusal)


def patches_runtimes(sample: Sample) -> bool:
    """Return whether jobs change pods by ``runtimePatches``, not by ``podTemplateOverrides``."""
    return sample.space.cluster.release.patches_runtimes


def changed_job(sample: Sample) -> Body:
    """Return the name of a replicated job with ranks: the nodes, or the launcher where none are."""
    return {"name": sample.launch.runtime.roles[-1]}


def with_pod(sample: Sample, body: Body, pod: Body) -> Body:
    """Return a job with a change to its pods, in the form of its release."""
    form = "runtimePatches" if patches_runtimes(sample) else "podTemplateOverrides"
    return with_change(body, {"spec": FORMS[form](changed_job(sample), pod)})


def _by_spec(job: Body, pod: Body) -> Body:
    return {"podSpecOverrides": [{"targetJobs": [job], **pod}]}


def _by_template(job: Body, pod: Body) -> Body:
    return {"podTemplateOverrides": [{"targetJobs": [job], "spec": pod}]}


def _by_patch(job: Body, pod: Body) -> Body:
    jobs = [{**job, "template": {"spec": {"template": {"spec": pod}}}}]
    return runtime_patches(USER_MANAGER, jobs)


FORMS: Mapping[str, Callable[[Body, Body], Body]] = {
    "podSpecOverrides": _by_spec,
    "podTemplateOverrides": _by_template,
    "runtimePatches": _by_patch,
}
"""Forms in which a TrainJob of some Trainer changes the pods of a job: 2.0, 2.1, from 2.2 on.

Each takes the name of a replicated job and what its pods get, and returns a part of ``spec``.
"""


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


def as_json(body: Body) -> str:
    """Return a change as JSON, for messages."""
    return json.dumps(body)


def runtime_patches(manager: str, jobs: list[Body]) -> Body:
    """Return the part of a TrainJob that patches jobs of its JobSet under a manager's name."""
    return {"runtimePatches": [runtime_patch(manager, {"spec": {"replicatedJobs": jobs}})]}


def runtime_patch(manager: str, template: Body) -> Body:
    """Return one patch of a runtime under a manager's name."""
    return {"manager": manager, "trainingRuntimeSpec": {"template": template}}


def whole_node(sample: Sample) -> Body:
    """Return the resources of one pod: those of a whole node or of a whole share."""
    return {name: format_amount(name, amount) for name, amount in sample.launch.per_node.items()}


def resources_per_node(requests: Body, limits: Body) -> Body:
    """Return the part of a trainer that sets resources, with one rank per node."""
    return {"resourcesPerNode": {"requests": requests, "limits": limits}, "numProcPerNode": 1}


def own_resources(sample: Sample) -> Iterator[Body]:
    """Yield a whole node's resources as text, and whole numbers as the SDK sends them: 2.0."""
    whole = whole_node(sample)
    of_sdk = {name: float(text) if text.isdecimal() else text for name, text in whole.items()}
    for amounts in (whole, of_sdk):
        yield resources_per_node(amounts, amounts)


def as_applied(body: Body) -> Body:
    """Return an object without the fields that the API server adds, so that it can be applied."""
    kept = {key: value for key, value in body.items() if key != "status"}
    metadata = {key: body["metadata"][key] for key in _OURS if key in body["metadata"]}
    return {**kept, "metadata": metadata}
