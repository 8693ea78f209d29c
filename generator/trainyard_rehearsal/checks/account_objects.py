"""Objects of an account that writes pods, Jobs and Services in a team's namespace."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model import names
from trainyard.model.platform import Site
from trainyard.model.space import Space
from trainyard_rehearsal.checks.forbidden_metadata import FORBIDDEN_METADATA
from trainyard_rehearsal.checks.pool_attacks import gateways, networks, pool_attacks
from trainyard_rehearsal.checks.refusals import (
    CONTROLLER_UID,
    DELIVERY,
    DENIED,
    EXTERNAL,
    FILES,
    FINALIZER,
    INGRESS,
    OBJECT_TOO_LARGE,
    OF_DELIVERY,
    OWNER,
    PODSET,
    RANK_JOB,
    RANK_LABEL,
    RANK_NAME,
    RANK_QUEUE,
)
from trainyard_rehearsal.checks.variants import QUEUE_LABEL, with_change
from trainyard_rehearsal.control_plane.api import Body

Attack = tuple[Body, str]
"""A change of an object, and its refusal."""

_CONTAINER: Body = {
    "name": "main",
    "image": "example.com/image",
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    },
}
_SPEC: Body = {
    "automountServiceAccountToken": False,
    "containers": [_CONTAINER],
    # No scheduler has this name: the pod only has to exist.
    "schedulerName": "nobody",
    "securityContext": {
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "seccompProfile": {"type": "RuntimeDefault"},
    },
    "serviceAccountName": names.JOB_ACCOUNT,
}
_UID = "11111111-1111-1111-1111-111111111111"
_JOBS = ("batch/v1", "evil/v1")
"""Versions of an owner of kind Job; the second does not exist."""

_LABELS = ({names.JOB_LABEL: "v1"}, {names.JOB_LABEL: ""})
_SHELLS = ("x-node-0-0-22222", "x-launcher-0-0-bcdfg")
_PODSET = "kueue.x-k8s.io/podset"
"""Label of the pods that Kueue has admitted."""


def owners(
    version: str = "batch/v1", kind: str = "Job", *, name: str = "v1", uid: str = _UID
) -> Body:
    """Return the metadata of an object that a controller owns."""
    reference = {"apiVersion": version, "kind": kind, "name": name, "uid": uid}
    return {"ownerReferences": [{**reference, "controller": True}]}


def pod(space: Space, name: str = "rehearsal") -> Body:
    """Return a pod that no policy has anything against."""
    return _object(space, "v1", "Pod", name, _SPEC)


def job(space: Space, name: str = "rehearsal") -> Body:
    """Return a Job whose pod is such a one."""
    template = {"spec": {**_SPEC, "restartPolicy": "Never"}}
    return _object(space, "batch/v1", "Job", name, {"template": template})


def job_set(space: Space) -> Body:
    """Return a JobSet of such a Job."""
    replicated = {"name": "node", "template": {"spec": job(space)["spec"]}}
    version = "jobset.x-k8s.io/v1alpha2"
    return _object(space, version, "JobSet", "rehearsal", {"replicatedJobs": [replicated]})


def service(space: Space) -> Body:
    """Return a Service."""
    return _object(space, "v1", "Service", "rehearsal", {"ports": [{"port": 80}]})


def eviction(pod: Body, options: Body) -> Body:
    """Return the eviction of a pod, with options of its deletion."""
    metadata = {key: pod["metadata"][key] for key in ("name", "namespace")}
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
    return {**body, "deleteOptions": options}


def network_policy(space: Space) -> Body:
    """Return a NetworkPolicy that lets the pods of its namespace reach those with a label."""
    spec = {
        "podSelector": {"matchLabels": {"a": "b"}},
        "ingress": [{"from": [{"podSelector": {}}]}],
    }
    return _object(space, "networking.k8s.io/v1", "NetworkPolicy", "rehearsal", spec)


def _service_account(space: Space) -> Body:
    """Return an account, which becomes the delivery's if the tree gets its name."""
    metadata = {"name": "rehearsal-later", "namespace": space.namespace}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}


def _object(space: Space, version: str, kind: str, name: str, spec: Body) -> Body:
    metadata = {"name": name, "namespace": space.namespace}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def taken(site: Site, space: Space) -> Iterator[Attack]:
    """Yield what only a rank may have: nodes, devices, priorities and networks."""
    yield from pool_attacks(site, _CONTAINER, space.namespace)


def made_for_job() -> Body:
    """Return what makes a pod that the controller of Jobs creates a rank."""
    labels = {names.JOB_LABEL: "x", _PODSET: "node"}
    return {"metadata": {**owners(), "labels": labels, "name": "x-node-0-0-bcdfg"}}


def not_of_kueue(site: Site, space: Space) -> Iterator[Attack]:
    """Yield pods of a Job that looks like JobSet's, and that Kueue did not admit."""
    unqueued: Body = {"metadata": {**owners(), "labels": {names.JOB_LABEL: "x"}}}
    for change in ({}, *(change for change, _ in taken(site, space) if "spec" in change)):
        yield with_change(change, unqueued), RANK_LABEL


def networks_of_ranks(site: Site, space: Space) -> Iterator[Attack]:
    """Yield ranks in another team's network: whoever writes what Trainer builds them from.

    Networks of devices are left out: ranks name them, and only their own nodes have them.
    """
    for change, refusal in networks(site, space.namespace):
        yield with_change(change, made_for_job()), refusal


def forged_pods(site: Site, space: Space) -> Iterator[Attack]:
    """Yield pods that look like ranks: by their owner, by the label of a job, by their name."""
    for change, refusal in taken(site, space):
        yield change, refusal
        for version in _JOBS:
            yield with_change(change, {"metadata": owners(version)}), refusal
    for name in _SHELLS:
        yield {"metadata": {**owners(), "name": name}}, RANK_NAME
    yield from gateways()


def labelled() -> Iterator[Attack]:
    """Yield pods with the label of a job's."""
    for labels in _LABELS:
        yield {"metadata": {"labels": labels}}, RANK_LABEL
        yield {"metadata": {**owners(), "labels": labels}}, RANK_LABEL
    yield {"metadata": {"labels": {_PODSET: "node"}}}, PODSET
    for key in ("batch.kubernetes.io/controller-uid", "controller-uid"):
        yield {"metadata": {"labels": {key: _UID}}}, CONTROLLER_UID


def open_to_others() -> Iterator[Attack]:
    """Yield what lets other namespaces reach the pods of a NetworkPolicy."""
    yield {"spec": {"ingress": [{}]}}, INGRESS
    proxy = {"ports": [{"port": 8443, "protocol": "TCP"}]}
    yield {"spec": {"ingress": [proxy]}}, INGRESS
    everybody: tuple[Body, ...] = ({"namespaceSelector": {}}, {"ipBlock": {"cidr": "0.0.0.0/0"}})
    for peer in everybody:
        yield {"spec": {"ingress": [{"from": [peer]}]}}, INGRESS


def mounting_files() -> Iterator[Attack]:
    """Yield a pod whose driver mounts the folder that the pod names."""
    attributes = {"server": "nfs.example.com", "share": "/export/home/another"}
    volume = {"name": "x", "csi": {"driver": "nfs.csi.k8s.io", "volumeAttributes": attributes}}
    yield {"spec": {"volumes": [volume]}}, FILES


def forged_jobs() -> Iterator[Attack]:
    """Yield Jobs that look like those of JobSet, or whose pods do, and one with a queue."""
    for labels in _LABELS:
        yield {"metadata": {"labels": labels}}, RANK_JOB
        yield {"spec": {"template": {"metadata": {"labels": labels}}}}, RANK_JOB
    yield {"metadata": {"labels": {QUEUE_LABEL: "default"}}}, RANK_QUEUE
    # Kueue gives it a queue first, so that either policy may answer.
    yield {"spec": {"template": {"metadata": {"labels": {_PODSET: "node"}}}}}, DENIED


def disowned() -> Iterator[Attack]:
    """Yield Jobs whose owner Kueue believes to be queued.

    Where it queues the owner's kind, its webhook refuses an owner that does not exist; else the
    Job gets a queue. So the policy on owners need not be the first to refuse the Job.
    """
    for version, kind in (
        ("jobset.x-k8s.io/v1alpha2", "JobSet"),
        ("trainer.kubeflow.org/v1alpha1", "TrainJob"),
        ("kubeflow.org/v2beta1", "MPIJob"),
    ):
        yield {"metadata": owners(version, kind)}, "denied"


def stopping(space: Space) -> Iterator[tuple[Body, Attack]]:
    """Yield objects of many kinds with what stops a sync or a deletion."""
    held = [each for each in FORBIDDEN_METADATA if "ownerReferences" not in each[0]]
    for metadata, refusal in held:
        yield service(space), ({"metadata": metadata}, refusal)
    keys = [each for each in held if each[1] == DELIVERY]
    template = {"metadata": {"labels": {"a": "b"}}, "spec": _SPEC}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    deployment = _object(space, "apps/v1", "Deployment", "rehearsal", spec)
    timed = _object(space, "batch/v1", "CronJob", "rehearsal", {})
    timed["spec"] = {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": job(space)["spec"]}}
    for metadata, refusal in keys:
        yield timed, ({"spec": {"jobTemplate": {"metadata": metadata}}}, refusal)
        in_pods: Body = {"template": {"metadata": metadata}}
        yield timed, ({"spec": {"jobTemplate": {"spec": in_pods}}}, refusal)
        yield pod(space), ({"metadata": metadata}, refusal)
        yield deployment, ({"metadata": metadata}, refusal)
        yield deployment, ({"spec": {"template": {"metadata": metadata}}}, refusal)
    yield service(space), ({"spec": {"type": "ExternalName", "externalName": "x.test"}}, EXTERNAL)
    # The delivery adds its own to what is there under the name of a later object of the tree.
    large: Body = {"metadata": {"annotations": {"a": "x" * 70_000}}}
    for body in (network_policy(space), _service_account(space)):
        yield body, (large, OBJECT_TOO_LARGE)
    delivered = {"app.kubernetes.io/managed-by": "trainyard"}
    yield network_policy(space), ({"metadata": {"labels": delivered}}, OF_DELIVERY)
    orphan: Body = {"metadata": {"finalizers": ["orphan"]}}
    yield pod(space), (orphan, FINALIZER)
    yield deployment, ({"spec": {"template": orphan}}, FINALIZER)


def owned(space: Space) -> Iterator[tuple[Body, Attack]]:
    """Yield objects with owners and finalizers that keep them, or make another wait for them."""
    yield service(space), ({"metadata": owners()}, OWNER)
    for body in (network_policy(space), _service_account(space)):
        yield body, ({"metadata": {"finalizers": ["example.com/hold"]}}, FINALIZER)
        yield body, ({"metadata": owners()}, OWNER)
    yield _many_owners(space)
    for version, kind in (
        ("v1", "Pod"),
        ("v1", "ConfigMap"),
        ("example.com/v1", "Nope"),
        ("kubeflow.org/v1", "Notebook"),
    ):
        (owner,) = owners(version, kind)["ownerReferences"]
        waited_for = {**owner, "controller": False, "blockOwnerDeletion": True}
        # The API server may say so before the policy.
        yield pod(space), ({"metadata": {"ownerReferences": [waited_for]}}, "blockOwnerDeletion")


def _many_owners(space: Space) -> tuple[Body, Attack]:
    """Return a pod with more owners than the policies compare."""
    owner = {**owners()["ownerReferences"][0], "controller": False}
    many = [{**owner, "uid": f"x{number}"} for number in range(33)]
    return pod(space), ({"metadata": {"ownerReferences": many}}, OWNER)


def read_by_pod(space: Space) -> Iterator[Body]:
    """Yield what GitLab's runner and Spark make for a pod, and give it as owner.

    Sources: gitlabhq/gitlab-runner:executors/kubernetes/kubernetes.go@cf848a5,
    apache/spark:resource-managers/kubernetes/core/src/main/scala/org/apache/spark/deploy/k8s/
    KubernetesUtils.scala@bdf3ca0.
    """
    owned_by_pod = {"metadata": owners("v1", "Pod")}
    metadata = {"name": "rehearsal", "namespace": space.namespace}
    yield with_change(service(space), owned_by_pod)
    yield with_change({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}, owned_by_pod)


def rank_changes() -> Iterator[Body]:
    """Yield changes of metadata with which a rank would leave its job, or its network."""
    yield {"metadata": {"labels": {names.JOB_LABEL: None}}}
    yield {"metadata": {"labels": {names.JOB_LABEL: "another"}}}
    yield {"metadata": {"labels": {"mine": "x"}}}
    yield {"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks": "another-rail"}}}
    yield {"metadata": {"ownerReferences": []}}


def of_pipelines() -> Iterator[Body]:
    """Yield pods as the controller of pipelines creates them, with an account of the namespace."""
    yield {}
    yield {"metadata": owners("argoproj.io/v1alpha1", "Workflow")}
    yield {"metadata": {"finalizers": ["workflows.argoproj.io/status"]}}
    yield {"metadata": owners()}
    of_secrets = {"driver": "secrets-store.csi.k8s.io", "readOnly": True}
    yield {"spec": {"volumes": [{"name": "x", "csi": of_secrets}]}}
