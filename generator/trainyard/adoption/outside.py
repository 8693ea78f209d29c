"""List what runs with GPUs outside of Kueue, by name: admission decides about its next start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.adoption.model import Crew, Mark, Remark
from trainyard.adoption.sizes import has_ended, requests
from trainyard.model.accelerator import MAKERS
from trainyard.model.facts import Body, Facts, condition, labels_of, place_of
from trainyard.model.importable import (
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    PLAIN_JOBS,
    PODS,
    STATEFUL_SETS,
)
from trainyard.model.lookup import mapping, mappings, text
from trainyard.model.quantity import counted
from trainyard.model.readable import WORKLOADS

_DEVICES = frozenset(maker.resource for maker in MAKERS)
_MIG = "nvidia.com/mig-"
_KUEUE = "kueue.x-k8s.io/"
"""Prefix of the labels that Kueue's users and Kueue give to jobs, and Kueue to their pods."""
_SYSTEM = "kube-system"
_OF_JOB = ("spec", "template")
_TEMPLATES = {
    DEPLOYMENTS: _OF_JOB,
    STATEFUL_SETS: _OF_JOB,
    DAEMON_SETS: _OF_JOB,
    PLAIN_JOBS: _OF_JOB,
    CRON_JOBS: ("spec", "jobTemplate", *_OF_JOB),
}
"""Kinds that make pods, with the place of their template."""

Key = tuple[str, str, str]
"""Namespace, kind and name."""


@dataclass(slots=True)
class _Found:
    """What makes pods with GPUs.

    Args:
        each: GPUs of one pod of its template; 0 where the dump has no template of it.
        pods: GPUs of each pod that is there.
        owner: kind and name of what controls it; empty without one.
    """

    each: int
    pods: list[int]
    owner: str = ""

    @property
    def display(self) -> str:
        """Its pods and GPUs, and its owner."""
        what = f"{counted(len(self.pods), 'pod')} with {counted(sum(self.pods), 'GPU')}"
        if not self.pods:
            what = f"{counted(self.each, 'GPU')} a pod, none is in the dump"
        return f"{what}, of {self.owner}" if self.owner else what


def gpus_of(pod: Body) -> int:
    """Return the GPUs, or parts of them, that a pod requests.

    Raises:
        TreeError: an amount is not a quantity.
    """
    asked = requests(pod)
    return sum(n for name, n in asked.items() if name in _DEVICES or name.startswith(_MIG))


def is_queued(body: Body) -> bool:
    """Return whether an object, or the template in it, has a label of Kueue's."""
    return any(label.startswith(_KUEUE) for label in labels_of(body))


def outside(facts: Facts, crews: Sequence[Crew]) -> Iterator[Remark]:
    """Yield each object that has, or makes, pods with GPUs outside of Kueue."""
    teams = {namespace: crew.name for crew in crews for namespace in crew.namespaces}
    found, known = _templates(facts), _makers(facts)
    _add_pods(found, known, facts)
    queued = {key for key, body in known.items() if is_queued(body)}
    queued.update(map(maker, facts.of(WORKLOADS)))
    for namespace, kind, name in sorted(found.keys() - queued):
        shown = found[namespace, kind, name].display
        why = f"{shown}; {_where(namespace, kind, teams)}"
        yield Remark(Mark.OUTSIDE, f"{kind} {namespace}/{name}", why)


def _add_pods(found: dict[Key, _Found], known: Mapping[Key, Body], facts: Facts) -> None:
    """Add the GPUs of each pod that runs, or waits, to what made it."""
    for pod in facts.of(PODS):
        gpus = gpus_of(pod)
        if gpus and not has_ended(pod) and not is_queued(pod):
            found.setdefault(_first_maker(pod, known), _Found(0, [])).pods.append(gpus)


def _where(namespace: str, kind: str, teams: Mapping[str, str]) -> str:
    if namespace in teams:
        return f"in team {teams[namespace]}"
    if namespace == _SYSTEM:
        return "in a namespace of the system, whose pods are never refused"
    if kind == "DaemonSet":
        return f"outside of teams: list {namespace} in `systemNamespaces`"
    return "outside of teams"


def _makers(facts: Facts) -> dict[Key, Body]:
    return {_key(body): body for kind in _TEMPLATES for body in facts.of(kind)}


def _templates(facts: Facts) -> dict[Key, _Found]:
    """Return what makes pods with GPUs by a template, without Jobs that something else made."""
    found = {}
    for kind, path in _TEMPLATES.items():
        for body in facts.of(kind):
            is_made = kind is PLAIN_JOBS and (_controller(body) or _is_over(body))
            template = _template(body, path)
            gpus = gpus_of(template)
            if gpus and not is_made and not is_queued(template):
                found[_key(body)] = _Found(gpus, [], _owner(body))
    return found


def _template(body: Body, path: Sequence[str]) -> dict[str, Any]:
    """Return the template of an object as a pod of its name."""
    template = mapping(dict(body), *path)
    labels = mapping(template, "metadata", "labels")
    metadata = {**body["metadata"], "labels": labels}
    return {**template, "kind": body["kind"], "metadata": metadata}


def _is_over(job: Body) -> bool:
    ends = (condition(job, kind) for kind in ("Complete", "Failed"))
    return any(each.get("status") == "True" for each in ends)


def maker(body: Body) -> Key:
    """Return what controls an object: a pod, or a Workload; else the object itself."""
    return _controller(body) or _key(body)


def _first_maker(pod: Body, known: Mapping[Key, Body]) -> Key:
    """Return what made a pod: a Deployment, not its ReplicaSet; what made a Job; or the pod."""
    namespace, kind, name = maker(pod)
    if kind == "ReplicaSet" and (number := labels_of(pod).get("pod-template-hash")):
        return namespace, "Deployment", name.removesuffix(f"-{number}")
    job = known.get((namespace, kind, name)) if kind == PLAIN_JOBS.kind else None
    return (job and _controller(job)) or (namespace, kind, name)


def _key(body: Body) -> Key:
    return place_of(body)[0], str(body["kind"]), place_of(body)[1]


def _controller(body: Body) -> Key | None:
    for owner in mappings(dict(body), "metadata", "ownerReferences"):
        if owner.get("controller"):
            return place_of(body)[0], text(owner, "kind"), text(owner, "name")
    return None


def _owner(body: Body) -> str:
    """Return what controls an object, or the tool that says that it manages it."""
    found = _controller(body)
    return " ".join(found[1:]) if found else labels_of(body).get("app.kubernetes.io/managed-by", "")
