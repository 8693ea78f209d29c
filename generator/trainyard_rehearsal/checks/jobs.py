"""TrainJobs on a control plane: submitted as a team's user, looked at, and ended as a kubelet would end them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.model.space import Space
from trainyard_rehearsal.control_plane.api import Api, Body, Refused

JOBSET = "jobset.sigs.k8s.io/jobset-name"
_ROLE = "jobset.sigs.k8s.io/replicatedjob-name"
_INDEX = "batch.kubernetes.io/job-completion-index"
KUEUE = "kueue.x-k8s.io/v1beta2"
TRAINER = "trainer.kubeflow.org/v1alpha1"


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod of a job.

    Args:
        role: ``launcher``, ``node`` or a step.
        index: within its role.
        created: time in RFC 3339, to the second.
        node: that it is bound to; empty while it is not.
    """

    body: Body
    role: str
    index: int
    created: str
    node: str
    phase: str


@dataclass(frozen=True, slots=True)
class Job:
    """A TrainJob that was submitted."""

    api: Api
    namespace: str
    name: str

    @property
    def body(self) -> Body:
        """The TrainJob as it stands."""
        return self.api.get(TRAINER, "TrainJob", self.name, self.namespace)

    @property
    def workload(self) -> Body:
        """What Kueue makes of it; empty before it did."""
        for body in self.api.list(KUEUE, "Workload", self.namespace):
            if any(
                each["name"] == self.name for each in body["metadata"].get("ownerReferences", [])
            ):
                return body
        return {}

    @property
    def pods(self) -> list[Pod]:
        """Its pods, the launcher first, then by rank."""
        found = self.api.list("v1", "Pod", self.namespace, f"{JOBSET}={self.name}")
        return sorted(
            map(_pod, found), key=lambda pod: (pod.role != "launcher", pod.role, pod.index)
        )

    @property
    def is_admitted(self) -> bool:
        """Whether Kueue let it start."""
        return is_true(self.workload, "Admitted")

    @property
    def is_over(self) -> bool:
        """Whether it has ended, well or not."""
        body = self.body
        return is_true(body, "Complete") or is_true(body, "Failed")

    @property
    def waits_because(self) -> str:
        """What Kueue says where the user looks."""
        conditions = (self.workload.get("status") or {}).get("conditions", [])
        return "; ".join(
            f"{each['type']}={each['status']} {each['reason']}: {each['message']}"
            for each in conditions
            if each["type"] in {"Admitted", "QuotaReserved", "Evicted"}
        )

    def end(self, role: str, code: int = 0) -> None:
        """End the pods of a role as a kubelet reports it, with an exit code."""
        for pod in self.pods:
            if pod.role == role and pod.phase == "Running":
                self.api.patch(pod.body, {"status": _ended(pod.body, code)}, "status")

    def delete(self) -> None:
        """Delete it, if it is still there."""
        try:
            self.api.delete({"apiVersion": TRAINER, "kind": "TrainJob", "metadata": self._metadata})
        except Refused as refused:
            if refused.status != 404:
                raise

    @property
    def is_gone(self) -> bool:
        """Whether neither it nor a pod of it is there."""
        return not self.api.find(TRAINER, "TrainJob", self.name, self.namespace) and not self.pods

    @property
    def _metadata(self) -> dict[str, str]:
        return {"name": self.name, "namespace": self.namespace}


def submit(api: Api, body: Body, space: Space) -> Job:
    """Create a TrainJob as somebody of its team.

    Raises:
        Refused: by a role or a policy.
    """
    as_user(api, space).create(body)
    return Job(api, space.namespace, body["metadata"]["name"])


def as_user(api: Api, space: Space, role: str = "user") -> Api:
    """Return the API as a member of a team's group sees it; of another role's where the team has none."""
    groups = space.team.groups
    named = next(groups[each] for each in (role, "user", "admin") if groups.get(each))
    return api.acting(f"somebody@{space.team.name}", [*named[:1], "system:authenticated"])


def changed(body: Body, **trainer: object) -> Body:
    """Return a TrainJob with other fields in ``spec.trainer``; numbers of nodes, usually."""
    spec = {**body["spec"], "trainer": {**body["spec"]["trainer"], **trainer}}
    return {**body, "spec": spec}


def named(body: Body, name: str) -> Body:
    """Return a TrainJob under another name."""
    return {**body, "metadata": {**body["metadata"], "name": name}}


def conditions(body: Body) -> Iterator[Body]:
    """Yield the conditions of an object."""
    yield from (body.get("status") or {}).get("conditions") or []


def is_true(body: Body, kind: str) -> bool:
    """Tell whether a condition of an object holds."""
    return any(each["type"] == kind and each["status"] == "True" for each in conditions(body))


def _pod(body: Body) -> Pod:
    metadata = body["metadata"]
    labels = metadata["labels"]
    index = int(labels.get(_INDEX, metadata.get("annotations", {}).get(_INDEX, 0)))
    node = body["spec"].get("nodeName", "")
    return Pod(
        body,
        labels[_ROLE],
        index,
        metadata["creationTimestamp"],
        node,
        body["status"].get("phase", ""),
    )


def _ended(body: Body, code: int) -> Body:
    phase, reason = ("Failed", "Error") if code else ("Succeeded", "Completed")
    done = {
        "exitCode": code,
        "startedAt": _started(body),
        "finishedAt": _started(body),
        "reason": reason,
    }
    containers = [
        {
            "name": each["name"],
            "image": each["image"],
            "imageID": "",
            "ready": False,
            "restartCount": 0,
            "state": {"terminated": done},
        }
        for each in body["spec"]["containers"]
    ]
    ready = {"type": "Ready", "status": "False", "reason": "PodFailed" if code else "PodCompleted"}
    return {"phase": phase, "conditions": [ready], "containerStatuses": containers}


def _started(body: Body) -> str:
    return str(body["metadata"]["creationTimestamp"])
