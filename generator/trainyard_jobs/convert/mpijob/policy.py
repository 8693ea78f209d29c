"""The metadata of an MPIJob or a PyTorchJob, and the limits of its runPolicy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from trainyard.model.quantity import whole_number
from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.model import Kind
from trainyard_jobs.convert.mpijob.fields import MPIJOB, Fields, Path
from trainyard_jobs.convert.mpijob.meanings import shown
from trainyard_jobs.convert.trainjob import LONGEST_TIME, PRIORITY, QUEUE
from trainyard_jobs.convert.words import words

_RETRIES: Final = 6
"""Of a Job whose backoffLimit is not set, such as that of the launcher."""
_OF_SERVER = words(
    """
    creationTimestamp deletionGracePeriodSeconds deletionTimestamp generation managedFields
    resourceVersion selfLink uid
    """
)
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_TOOLS = ("argocd.argoproj.io/", "meta.helm.sh/", "kustomize.toolkit.fluxcd.io/", "helm.sh/")
_TOOL_LABELS = frozenset({"app.kubernetes.io/instance", "app.kubernetes.io/managed-by"})
_KUEUE = "kueue.x-k8s.io/"
_OF_A_JOB = frozenset({LONGEST_TIME, PRIORITY, QUEUE})
_OPERATOR = "training.kubeflow.org/"
_RUN: Final = ("spec", "runPolicy")


def skip_what_the_server_writes(fields: Fields) -> None:
    """Mark as read what `kubectl get` shows and nobody wrote."""
    fields.take("status")
    for name in _OF_SERVER:
        fields.take("metadata", name)
    fields.take("metadata", "annotations", _APPLIED)
    for role in fields.kind.roles:
        fields.take(*fields.role(role, "template", "metadata", "creationTimestamp"))


def with_metadata(fields: Fields, draft: Draft) -> Draft:
    """Return a draft with labels, annotations, queue and class."""
    labels = _kept(fields, "labels")
    queue, priority = labels.pop(QUEUE, ""), labels.pop(PRIORITY, "")
    time = labels.pop(LONGEST_TIME, "")
    at: Path = ("metadata", "labels", PRIORITY) if priority else ()
    for path in _classes(fields):
        other = fields.text(*path)
        if other and not priority:
            at, priority = path, other
    return replace(
        draft,
        labels=labels,
        annotations=_kept(fields, "annotations"),
        queue=queue,
        priority=priority,
        deadline=whole_number(time) or 0,
        places={
            **draft.places,
            "queue": fields.place("metadata", "labels", QUEUE),
            "priority": fields.place(*at),
        },
    )


def _classes(fields: Fields) -> list[Path]:
    """Return where classes stand, in the order in which Kueue reads them.

    Source: kubernetes-sigs/kueue:pkg/controller/jobs/{mpijob,kubeflow/kubeflowjob}.
    """
    name = ("template", "spec", "priorityClassName")
    roles = [fields.role(role, *name) for role in fields.kind.roles]
    return [(*_RUN, "schedulingPolicy", "priorityClass"), *roles]


def _kept(fields: Fields, part: str) -> dict[str, str]:
    """Return labels or annotations, without those that bind the job to a tool."""
    kept: dict[str, str] = {}
    for key, value in fields.mapping("metadata", part).items():
        path = ("metadata", part, key)
        if key == _APPLIED:
            continue
        fields.take(*path)
        if reason := _reason_to_drop(key):
            fields.note(Kind.DROPPED, path, f"{part[:-1]} {key}", reason)
        else:
            kept[key] = str(value)
    return kept


def _reason_to_drop(key: str) -> str:
    """Return why a label or annotation is left out; empty for one that is kept."""
    if key in _TOOL_LABELS or key.startswith(_TOOLS):
        return "the tool that wrote it would take the TrainJob for its own"
    if key.startswith(_KUEUE) and key not in _OF_A_JOB:
        return "the platform and Kueue set it"
    return "only the operator of the job reads it" if key.startswith(_OPERATOR) else ""


def with_limits(fields: Fields, draft: Draft, specs: Sequence[Path]) -> Draft:
    """Return a draft with deadline, restarts and grace period.

    Args:
        fields: of the job.
        draft: so far.
        specs: paths of the specs of launcher and workers.
    """
    _note_start(fields)
    _note_restarts(fields)
    run = _limits_at(fields)
    seconds = fields.number(0, *run["deadline"])
    if seconds:
        first = fields.kind.roles[0].lower()
        text = f"Kueue counts it from the admission of the whole job, not from the {first}'s start"
        what = shown(run["deadline"])
        fields.note(Kind.CHANGED, run["deadline"], what, text)
    retries = _RETRIES if fields.kind == MPIJOB else 0
    graces = [fields.number(0, *spec, "terminationGracePeriodSeconds") for spec in specs]
    limits: Mapping[str, Any] = {
        "deadline": min(filter(None, (seconds, draft.deadline)), default=0),
        "restarts": fields.number(retries, *run["restarts"]),
        "grace": max(graces),
    }
    paths = {
        **run,
        "grace": (*specs[graces.index(max(graces))], "terminationGracePeriodSeconds"),
    }
    stated = {name: path for name, path in paths.items() if fields.peek(*path) is not None}
    return replace(draft, **limits, places={**draft.places, **fields.places(stated)})


def _limits_at(fields: Fields) -> dict[str, Path]:
    """Return the paths of deadline and restarts; v1alpha2 has them beside runPolicy too."""
    paths: dict[str, Path] = {}
    for name, key in {"deadline": "activeDeadlineSeconds", "restarts": "backoffLimit"}.items():
        old = ("spec", key)
        is_old = fields.peek(*_RUN, key) is None and fields.peek(*old) is not None
        paths[name] = old if is_old else (*_RUN, key)
    return paths


def _note_start(fields: Fields) -> None:
    if fields.take(*_RUN, "suspend") is True:
        text = "Kueue decides when a job starts: create it when it may start"
        fields.note(Kind.CHANGED, (*_RUN, "suspend"), "runPolicy.suspend", text)
    creation = fields.text("spec", "launcherCreationPolicy")
    if creation not in {"", "WaitForWorkersReady"}:
        text = "the launcher starts when every other pod is ready"
        at = ("spec", "launcherCreationPolicy")
        fields.note(Kind.CHANGED, at, f"launcherCreationPolicy {creation}", text)
    if fields.peek(*_RUN, "managedBy") == "kubeflow.org/mpi-operator":
        fields.take(*_RUN, "managedBy")


def _note_restarts(fields: Fields) -> None:
    for role in fields.kind.roles:
        path = fields.role(role, "restartPolicy")
        policy = fields.text(*path)
        if policy not in {"", "Never"}:
            text = "no container starts again in its pod: a failure ends the attempt"
            fields.note(Kind.CHANGED, path, f"{role}: restartPolicy {policy}", text)
