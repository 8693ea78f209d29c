"""Play OpenShift AI's Trainer, which writes a NetworkPolicy for each TrainJob.

It does what opendatahub-io/trainer:pkg/rhai/networkpolicy.go@odh-3.5.0 does, as Trainer's account
with the verbs of manifests/rhoai/rbac_progression_patch.yaml. Upstream's Trainer, which runs here,
has no such code.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from trainyard.diagnostics import ToolError
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.refusal import Refused

_TRAINER = "trainer.kubeflow.org/v1alpha1"
_NETWORKING = "networking.k8s.io/v1"
_RBAC = "rbac.authorization.k8s.io"
_SECONDS = 1.0
"""Between two looks at all jobs; a job that has not changed is not reconciled again."""
_PORT = 28080


class JobPolicies:
    """Trainer's part that writes NetworkPolicies.

    Args:
        api: the administrator's client.
        account: Trainer's user in production.
    """

    def __init__(self, api: Api, account: str) -> None:
        namespace = account.split(":")[2]
        groups = ["system:authenticated", "system:serviceaccounts"]
        self.trainer = api.acting(account, [*groups, f"system:serviceaccounts:{namespace}"])
        self.refusals: dict[tuple[str, str], str] = {}
        self._namespace = namespace
        self._seen: dict[tuple[str, str], str] = {}

    def look(self) -> None:
        """Reconcile each TrainJob that has changed, and each whose policy was refused."""
        for job in self.trainer.list(_TRAINER, "TrainJob"):
            metadata = job["metadata"]
            key, version = (metadata["namespace"], metadata["name"]), metadata["resourceVersion"]
            if self._seen.get(key) != version:
                try:
                    self.reconcile(job)
                except Refused as refused:
                    self.refusals[key] = str(refused)
                else:
                    self._seen[key] = version

    def reconcile(self, job: Body, *, dry_run: bool = False) -> None:
        """Create the policy of a job, or make one of its name the job's, whatever it was.

        Raises:
            Refused: by a role or a policy.
        """
        wanted = policy_of(job, self._namespace)
        metadata = wanted["metadata"]
        place = (metadata["name"], metadata["namespace"])
        existing = self.trainer.find(_NETWORKING, "NetworkPolicy", *place)
        if not existing:
            self.trainer.create(wanted, dry_run=dry_run)
            return
        labels = dict.fromkeys(existing["metadata"].get("labels", {})) | metadata["labels"]
        spec = dict.fromkeys(existing["spec"]) | wanted["spec"]
        selector = dict.fromkeys(existing["spec"]["podSelector"]) | spec["podSelector"]
        change = {"metadata": {"labels": labels}, "spec": {**spec, "podSelector": selector}}
        self.trainer.patch(wanted, change, dry_run=dry_run)


def policy_of(job: Body, namespace: str) -> Body:
    """Return the NetworkPolicy of a TrainJob: ingress from Trainer and from the job's own pods.

    Args:
        job: the TrainJob.
        namespace: of Trainer.
    """
    metadata = job["metadata"]
    own = {"matchLabels": {"jobset.sigs.k8s.io/jobset-name": metadata["name"]}}
    trainer = {"app.kubernetes.io/component": "controller", "app.kubernetes.io/name": "trainer"}
    metrics = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "podSelector": {"matchLabels": trainer},
    }
    owner = {"apiVersion": _TRAINER, "kind": "TrainJob"}
    owner |= {"name": metadata["name"], "uid": metadata["uid"]}
    return {
        "apiVersion": _NETWORKING,
        "kind": "NetworkPolicy",
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "labels": {
                "trainer.kubeflow.org/component": "network-policy",
                "trainer.kubeflow.org/trainjob-name": metadata["name"],
            },
            "ownerReferences": [{**owner, "blockOwnerDeletion": True, "controller": True}],
        },
        "spec": {
            "podSelector": own,
            "policyTypes": ["Ingress"],
            "ingress": [
                {"from": [metrics], "ports": [{"port": _PORT, "protocol": "TCP"}]},
                {"from": [{"podSelector": own}]},
            ],
        },
    }


@contextmanager
def played(api: Api, account: str) -> Iterator[JobPolicies]:
    """Play the controller in a thread until the end."""
    for body in _rights(account):
        api.apply(body)
    policies, end = JobPolicies(api, account), Event()

    def work() -> None:
        while not end.wait(_SECONDS):
            try:
                policies.look()
            except (Refused, ToolError):
                # Its rights are still to come, or the API server ends, which the rehearsal sees.
                continue

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        yield policies
    finally:
        end.set()
        thread.join()


def _rights(account: str) -> Iterator[Body]:
    """Yield the role that the manifest adds to Trainer's, and its binding."""
    _, _, namespace, name = account.split(":")
    metadata = {"name": "trainer-network-policies"}
    rule = {
        "apiGroups": ["networking.k8s.io"],
        "resources": ["networkpolicies"],
        "verbs": ["get", "list", "watch", "create", "update", "patch"],
    }
    version = f"{_RBAC}/v1"
    yield {"apiVersion": version, "kind": "ClusterRole", "metadata": metadata, "rules": [rule]}
    yield {
        "apiVersion": version,
        "kind": "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": metadata["name"]},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    }
