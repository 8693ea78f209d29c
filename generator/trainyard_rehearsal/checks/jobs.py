"""Submit TrainJobs as a team's user, look at them, and finish their pods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.model.people import acting_as
from trainyard.model.space import Space
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.refusal import unless_gone

JOBSET = "jobset.sigs.k8s.io/jobset-name"
_ROLE = "jobset.sigs.k8s.io/replicatedjob-name"
_INDEX = "batch.kubernetes.io/job-completion-index"
KUEUE = "kueue.x-k8s.io/v1beta2"
TRAINER = "trainer.kubeflow.org/v1alpha1"
_WAITING_TYPES = frozenset({"Admitted", "QuotaReserved", "Evicted"})


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod of a job.

    Args:
        role: ``launcher``, ``node`` or a step.
        index: within its role.
        created: time in RFC 3339, to the second.
        node: name of its node; empty until it is scheduled.
    """

    body: Body
    role: str
    index: int
    created: str
    node: str
    phase: str

    @property
    def name(self) -> str:
        """The name of the pod."""
        return str(self.body["metadata"]["name"])


@dataclass(frozen=True, slots=True)
class Job:
    """A TrainJob that was submitted."""

    api: Api
    namespace: str
    name: str

    @property
    def body(self) -> Body:
        """The TrainJob as it is now."""
        return self.api.get(TRAINER, "TrainJob", self.name, self.namespace)

    @property
    def workload(self) -> Body:
        """Kueue's Workload of the job; empty before Kueue creates it."""
        for body in self.api.list(KUEUE, "Workload", self.namespace):
            owners = body["metadata"].get("ownerReferences", [])
            if any(owner["name"] == self.name for owner in owners):
                return body
        return {}

    @property
    def pods(self) -> list[Pod]:
        """Its pods: the launcher first, then the others by role and index."""
        found = self.api.list("v1", "Pod", self.namespace, f"{JOBSET}={self.name}")
        return sorted(
            map(_pod, found), key=lambda pod: (pod.role != "launcher", pod.role, pod.index)
        )

    @property
    def is_admitted(self) -> bool:
        """Return whether Kueue admitted it."""
        return is_true(self.workload, "Admitted")

    @property
    def has_finished(self) -> bool:
        """Return whether it is complete or failed."""
        body = self.body
        return is_true(body, "Complete") or is_true(body, "Failed")

    @property
    def waiting_reason(self) -> str:
        """The conditions of its Workload that show a user why it waits."""
        return "; ".join(
            "{type}={status} {reason}: {message}".format_map(condition)
            for condition in conditions(self.workload)
            if condition["type"] in _WAITING_TYPES
        )

    @property
    def events(self) -> list[str]:
        """The messages of events about its Workload; of a condition only the last is kept."""
        name = self.workload.get("metadata", {}).get("name")
        found = self.api.list("v1", "Event", self.namespace)
        about = (each for each in found if each["involvedObject"].get("name") == name)
        return [str(each.get("message", "")) for each in about]

    def finish(self, role: str, code: int = 0) -> None:
        """Finish the running pods of a role with an exit code, as a kubelet reports it."""
        for pod in self.pods:
            if pod.role == role and pod.phase == "Running":
                with unless_gone():
                    self.api.patch(pod.body, {"status": _finished_status(pod.body, code)}, "status")

    def delete(self) -> None:
        """Delete the job, if it still exists."""
        with unless_gone():
            self.api.delete({"apiVersion": TRAINER, "kind": "TrainJob", "metadata": self._metadata})

    @property
    def is_gone(self) -> bool:
        """Return whether neither the job nor a pod of it exists."""
        return not self.api.find(TRAINER, "TrainJob", self.name, self.namespace) and not self.pods

    @property
    def _metadata(self) -> dict[str, str]:
        return {"name": self.name, "namespace": self.namespace}


def submit(api: Api, body: Body, space: Space) -> Job:
    """Create a TrainJob as a member of its team.

    Raises:
        Refused: by a role or a policy.
    """
    as_user(api, space).create(body)
    return Job(api, space.namespace, body["metadata"]["name"])


def as_user(api: Api, space: Space, role: str = "user") -> Api:
    """Return the API for a team member with a role; with ``user`` or ``admin`` if none has it."""
    return api.acting(*member(space, role))


def member(space: Space, role: str = "user") -> tuple[str, tuple[str, ...]]:
    """Return the name and groups of such a member."""
    groups = space.team.groups
    return acting_as(next(groups[each][0] for each in (role, "user", "admin") if groups.get(each)))


def as_deputy(api: Api) -> Api:
    """Return the API for an operator with every right, which makes what objects of others say.

    Velero's charts bind ``cluster-admin`` (vmware-tanzu/helm-charts:
    charts/velero/templates/clusterrolebinding.yaml@cbf40c2).
    """
    groups = ["system:masters", "system:serviceaccounts", "system:serviceaccounts:velero"]
    return api.acting("system:serviceaccount:velero:velero-server", groups)


def as_account(api: Api, account: str) -> Api:
    """Return the API for a service account, ``system:serviceaccount:NAMESPACE:NAME``."""
    namespace = account.split(":")[2]
    groups = (
        "system:serviceaccounts",
        f"system:serviceaccounts:{namespace}",
        "system:authenticated",
    )
    return api.acting(account, groups)


def with_trainer(body: Body, **trainer: object) -> Body:
    """Return a TrainJob with other fields in ``spec.trainer``, such as the number of nodes."""
    spec = {**body["spec"], "trainer": {**body["spec"]["trainer"], **trainer}}
    return {**body, "spec": spec}


def with_name(body: Body, name: str) -> Body:
    """Return a TrainJob with another name."""
    return {**body, "metadata": {**body["metadata"], "name": name}}


def conditions(body: Body) -> Iterator[Body]:
    """Yield the conditions of an object."""
    yield from (body.get("status") or {}).get("conditions") or []


def is_true(body: Body, kind: str) -> bool:
    """Return whether a condition of an object is true."""
    return any(
        condition["type"] == kind and condition["status"] == "True"
        for condition in conditions(body)
    )


def _pod(body: Body) -> Pod:
    metadata = body["metadata"]
    labels = metadata["labels"]
    index = int(labels.get(_INDEX, metadata.get("annotations", {}).get(_INDEX, 0)))
    node, phase = body["spec"].get("nodeName", ""), body["status"].get("phase", "")
    return Pod(body, labels[_ROLE], index, metadata["creationTimestamp"], node, phase)


def _finished_status(body: Body, code: int) -> Body:
    """Return the status of a pod whose containers ended with an exit code."""
    time = str(body["metadata"]["creationTimestamp"])
    reason = "Error" if code else "Completed"
    terminated = {"exitCode": code, "startedAt": time, "finishedAt": time, "reason": reason}
    containers = [
        {
            "name": each["name"],
            "image": each["image"],
            "imageID": "",
            "ready": False,
            "restartCount": 0,
            "state": {"terminated": terminated},
        }
        for each in body["spec"]["containers"]
    ]
    ready = {"type": "Ready", "status": "False", "reason": "PodFailed" if code else "PodCompleted"}
    phase = "Failed" if code else "Succeeded"
    return {"phase": phase, "conditions": [ready], "containerStatuses": containers}
