"""The form of a TrainJob."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.model import Body

PLACEHOLDER = "choose-a-runtime"
"""Name of the runtime of a job for which none was chosen."""
_KUEUE = "kueue.x-k8s.io"
QUEUE = f"{_KUEUE}/queue-name"
PRIORITY = f"{_KUEUE}/priority-class"
LONGEST_TIME = f"{_KUEUE}/max-exec-time-seconds"
_DOMAIN = "trainyard.example.com"
"""Of the manager of a job's changes, where there is no platform whose domain it could have."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a TrainJob names of the platform that it is for.

    Args:
        roles: names of the replicated jobs with ranks.
        runtime: name of the ClusterTrainingRuntime.
        domain: of the manager of changes of the pods.
        patches: whether Trainer has ``runtimePatches`` (2.2) or ``podTemplateOverrides``.
    """

    roles: tuple[str, ...]
    runtime: str = PLACEHOLDER
    domain: str = _DOMAIN
    patches: bool = True


def train_job(draft: Draft, form: Form) -> Body:
    """Return the TrainJob of a draft.

    Args:
        draft: final: namespace, labels, nodes and ranks are those of the TrainJob.
        form: of the platform.
    """
    reference = {
        "apiGroup": "trainer.kubeflow.org",
        "kind": "ClusterTrainingRuntime",
        "name": form.runtime,
    }
    spec: Body = {"runtimeRef": reference, "trainer": _trainer(draft)}
    if draft.volumes:
        spec |= _patches(draft, form) if form.patches else _overrides(draft, form)
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": _metadata(draft),
        "spec": _without_floats(spec),
    }


def _without_floats(value: Any) -> Any:
    """Return plain data in which a quantity such as ``1e9`` is a whole number or text."""
    if isinstance(value, dict):
        return {str(key): _without_floats(member) for key, member in value.items()}
    if isinstance(value, list):
        return list(map(_without_floats, value))
    if isinstance(value, float):
        return int(value) if value.is_integer() else str(value)
    return value


def _metadata(draft: Draft) -> Body:
    named = "generateName" if draft.name.endswith("-") else "name"
    return filled(
        {
            named: draft.name,
            "namespace": draft.namespace,
            "labels": _labels(draft),
            "annotations": dict(sorted(draft.annotations.items())),
        }
    )


def _labels(draft: Draft) -> dict[str, str]:
    time = str(draft.deadline or "")
    own = {QUEUE: draft.queue, PRIORITY: draft.priority, LONGEST_TIME: time}
    return dict(sorted({**draft.labels, **filled(own)}.items()))


def _trainer(draft: Draft) -> Body:
    """Return the trainer; a field that is there and empty would keep the job from ever starting."""
    return filled(
        {
            "numNodes": draft.nodes,
            "numProcPerNode": draft.ranks,
            "command": list(draft.command),
            "args": list(draft.args),
            "env": list(draft.env),
        }
    )


def filled(body: Mapping[str, Any]) -> Body:
    """Return fields without those that are empty."""
    return {key: value for key, value in body.items() if value}


def _pod(draft: Draft) -> Body:
    node = {"name": "node", "volumeMounts": list(draft.mounts)}
    return {"volumes": list(draft.volumes), "containers": [node]}


def _patches(draft: Draft, form: Form) -> Body:
    pod = {"spec": {"template": {"spec": _pod(draft)}}}
    jobs = [{"name": role, "template": pod} for role in form.roles]
    changes = {"template": {"spec": {"replicatedJobs": jobs}}}
    manager = f"{form.domain}/job"
    return {"runtimePatches": [{"manager": manager, "trainingRuntimeSpec": changes}]}


def _overrides(draft: Draft, form: Form) -> Body:
    targets = [{"name": role} for role in form.roles]
    return {"podTemplateOverrides": [{"targetJobs": targets, "spec": _pod(draft)}]}
