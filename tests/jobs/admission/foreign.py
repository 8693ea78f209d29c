"""Workloads that sites have, with what the policies of `prod-east` refuse of each."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.jobs.admission.operated import JOB_SET, JOBS, TRAIN_JOB

Body = dict[str, Any]

NODES = "trainyard-pool-nodes"
OBJECTS = "trainyard-tenant-objects"
TOLERATES, DEVICES = "spec.tolerations must not tolerate", "a container must not ask for"
NODE, PRIORITY = "spec.nodeName must be absent", "spec.priorityClassName must not begin"
_ANY = {"tolerations": [{"operator": "Exists"}]}
_GPU = {"limits": {"nvidia.com/gpu": "1"}}
RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


class Case(NamedTuple):
    """Objects of a site, and what is refused: owner, policy, and begins of its messages."""

    bodies: list[Body]
    refused: dict[tuple[str, str], set[str]]


def spec(**fields: Any) -> Body:
    """Return the spec of a pod; ``resources`` are those of its container."""
    resources = {"resources": fields.pop("resources")} if "resources" in fields else {}
    context = {"securityContext": fields.pop("context")} if "context" in fields else {}
    return {"containers": [{"name": "main", "image": "a", **resources, **context}], **fields}


def maker(kind: str, name: str, namespace: str, pod: Body, **above: Any) -> Body:
    """Return an object with a template of pods."""
    version = "batch/v1" if kind in {"CronJob", "Job"} else "apps/v1"
    labels = {"app": name}
    inner: Body = {"template": {"metadata": {"labels": labels}, "spec": pod}}
    if kind == "Job":
        inner["template"]["spec"] = {**pod, "restartPolicy": "Never"}
    elif kind == "CronJob":
        pod = {**pod, "restartPolicy": "Never"}
        template = {"template": {"spec": pod}}
        inner = {"schedule": "0 1 * * *", "jobTemplate": {"spec": template}}
    else:
        inner["selector"] = {"matchLabels": labels}
    body = {"apiVersion": version, "kind": kind, **metadata(name, namespace), "spec": inner}
    body["metadata"] |= above
    return body


def metadata(name: str, namespace: str, **more: Any) -> Body:
    return {"metadata": {"name": name, "namespace": namespace, **more}}


def pod(name: str, namespace: str, of: Body, **more: Any) -> Body:
    """Return a pod that runs."""
    fields = metadata(name, namespace, **more)
    return {"apiVersion": "v1", "kind": "Pod", **fields, "spec": of, "status": {"phase": "Running"}}


def owned(version: str, kind: str, name: str) -> list[Body]:
    return [{"apiVersion": version, "kind": kind, "name": name, "uid": "1", "controller": True}]


def written(*fields: str) -> list[Body]:
    """Return managed fields of whoever created a pod with some fields of its spec."""
    entry: Body = {"f:spec": {f"f:{field}": {} for field in fields}}
    return [{"manager": "a", "operation": "Update", "apiVersion": "v1", "fieldsV1": entry}]


def binding(name: str, subject: Body) -> Body:
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"}
    fields = {"roleRef": role, "subjects": [subject]}
    version = "rbac.authorization.k8s.io/v1"
    return {"apiVersion": version, "kind": "RoleBinding", **metadata(name, "team-nlp"), **fields}


def claim(name: str, storage_class: str) -> Body:
    """Return a claim that Kubernetes bound to a volume."""
    notes = {
        "pv.kubernetes.io/bind-completed": "yes",
        "pv.kubernetes.io/bound-by-controller": "yes",
        "volume.kubernetes.io/storage-provisioner": "example.com/driver",
    }
    asked = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": storage_class,
        "volumeName": "pvc-1",
    }
    fields = metadata(name, "team-nlp", annotations=notes)
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **fields, "spec": asked}


_ON_NODES = spec(
    nodeSelector={"ml.example.com/node-type": "dgx-h100"},
    tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    resources=_GPU,
)
_BLOCKING = {**owned("v1", "Pod", "rank")[0], "blockOwnerDeletion": True}
_TEMPLATE = {"metadata": {"name": "data", "ownerReferences": [_BLOCKING]}, "spec": {}}
_BLOCKER = maker("StatefulSet", "blocker", "databases", spec())
_BLOCKER["spec"]["volumeClaimTemplates"] = [_TEMPLATE]
_FINISHED = maker("Job", "yesterday", "batch", _ON_NODES)
_FINISHED["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
_ENDED = pod("yesterday-abc", "batch", _ON_NODES)
_ENDED["status"] = {"phase": "Succeeded"}
_ON_A_NODE = {**_ANY, "nodeName": "gpu-1"}

CASES = {
    "inference on the pool's nodes": Case(
        [
            maker("Deployment", "llm", "inference", _ON_NODES),
            maker(
                "ReplicaSet",
                "llm-5d9f",
                "inference",
                _ON_NODES,
                ownerReferences=owned("apps/v1", "Deployment", "llm"),
            ),
            pod(
                "llm-5d9f-abc",
                "inference",
                _ON_NODES,
                ownerReferences=owned("apps/v1", "ReplicaSet", "llm-5d9f"),
            ),
        ],
        {("inference Deployment/llm", NODES): {TOLERATES, DEVICES}},
    ),
    "a pod without its ReplicaSet in the dump": Case(
        [
            pod(
                "chat-7c4b-abc",
                "inference",
                spec(resources=_GPU),
                labels={"pod-template-hash": "7c4b"},
                ownerReferences=owned("apps/v1", "ReplicaSet", "chat-7c4b"),
            )
        ],
        {("inference Deployment/chat", NODES): {DEVICES}},
    ),
    "a daemon on every node": Case(
        [maker("DaemonSet", "agent", "agents", spec(**_ANY))],
        {("agents DaemonSet/agent", NODES): {TOLERATES}},
    ),
    "a daemon of a listed namespace": Case(
        [maker("DaemonSet", "agent", "kube-system", spec(**_ANY, resources=_GPU))], {}
    ),
    "a CI pod that names its node": Case(
        [
            pod(
                "runner-1",
                "ci",
                spec(nodeName="gpu-1"),
                managedFields=written("containers", "nodeName"),
            )
        ],
        {("ci Pod/runner-1", NODES): {NODE}},
    ),
    "a CI pod that the scheduler placed": Case(
        [pod("runner-2", "ci", spec(nodeName="gpu-1"), managedFields=written("containers"))], {}
    ),
    "a template that names a node": Case(
        [maker("Deployment", "pinned", "ci", spec(nodeName="gpu-1"))],
        {("ci Deployment/pinned", NODES): {NODE}},
    ),
    "a pod that debugs a node": Case(
        [pod("node-debugger-gpu-1-x", "default", spec(**_ON_A_NODE))],
        {("default Pod/node-debugger-gpu-1-x", NODES): {TOLERATES}},
    ),
    "a notebook with a GPU": Case(
        [
            maker(
                "StatefulSet",
                "ann",
                "notebooks",
                spec(resources=_GPU),
                ownerReferences=owned("kubeflow.org/v1", "Notebook", "ann"),
            ),
            pod(
                "ann-0",
                "notebooks",
                spec(resources=_GPU),
                ownerReferences=owned("apps/v1", "StatefulSet", "ann"),
            ),
        ],
        {("notebooks Notebook/ann", NODES): {DEVICES}},
    ),
    "a nightly job with a GPU": Case(
        [maker("CronJob", "nightly", "batch", spec(resources=_GPU))],
        {("batch CronJob/nightly", NODES): {DEVICES}},
    ),
    "an operator's pod with a GPU": Case(
        [
            pod(
                "ray-head-x",
                "ray",
                spec(resources=_GPU),
                ownerReferences=owned("ray.io/v1", "RayCluster", "ray"),
            )
        ],
        {("ray RayCluster/ray", NODES): {DEVICES}},
    ),
    "a job of a system's priority": Case(
        [maker("Job", "urgent", "batch", spec(priorityClassName="system-node-critical"))],
        {("batch Job/urgent", NODES): {PRIORITY}},
    ),
    "what has ended": Case([_FINISHED, _ENDED], {}),
    "what needs no node of a pool": Case(
        [
            maker("Deployment", "web", "shop", spec()),
            maker("CronJob", "mail", "shop", spec()),
            maker("StatefulSet", "db", "shop", spec()),
        ],
        {},
    ),
    "a kubelet's static pod": Case(
        [pod("etcd-1", "web", spec(**_ON_A_NODE), ownerReferences=owned("v1", "Node", "gpu-1"))],
        {},
    ),
    "a claim that holds a pod": Case(
        [_BLOCKER], {("databases StatefulSet/blocker", NODES): {"spec.volumeClaimTemplates"}}
    ),
    "a PyTorchJob that waits": Case(
        [JOBS["PyTorchJob of a queue"]],
        {
            ("team-nlp PyTorchJob/llm", NODES): {TOLERATES, DEVICES},
            ("team-nlp PyTorchJob/llm", "PodSecurity"): {"violates PodSecurity"},
        },
    ),
    "an MPIJob that waits": Case(
        [JOBS["MPIJob of a queue"]],
        {
            ("team-nlp MPIJob/fold", NODES): {TOLERATES, DEVICES},
            ("team-nlp MPIJob/fold", "PodSecurity"): {"violates PodSecurity"},
        },
    ),
    "a JobSet that waits": Case(
        [JOB_SET],
        {
            ("team-nlp JobSet/align", NODES): {TOLERATES, DEVICES},
            ("team-nlp JobSet/align", "trainyard-jobs"): {"only Trainer writes JobSets"},
            ("team-nlp JobSet/align", "PodSecurity"): {"violates PodSecurity"},
        },
    ),
    "a TrainJob of the site's runtime that waits": Case(
        [TRAIN_JOB],
        {("team-nlp TrainJob/asr", "trainyard-trainjob-limits"): {"spec.runtimeRef must name"}},
    ),
    "a team's RoleBindings": Case(
        [
            binding("people", {"kind": "Group", "name": "everyone"}),
            binding("bot", {"kind": "ServiceAccount", "name": "bot", "namespace": "team-nlp"}),
        ],
        {("team-nlp RoleBinding/people", OBJECTS): {"RoleBinding people can name accounts"}},
    ),
    "a team's claims": Case(
        [claim("data", "gp3"), claim("files", "cephfs")],
        {("team-nlp PersistentVolumeClaim/data", OBJECTS): {"spec.storageClassName must be"}},
    ),
    "a team's quota": Case(
        [
            {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                **metadata("own", "team-nlp"),
                "spec": {"hard": {"pods": "10"}},
            }
        ],
        {},
    ),
    "a team's Deployments": Case(
        [
            maker("Deployment", "root", "team-nlp", spec()),
            maker("Deployment", "tame", "team-nlp", spec(context=RESTRICTED)),
        ],
        {("team-nlp Deployment/root", "PodSecurity"): {"violates PodSecurity"}},
    ),
}
"""Refusals by namespace and owner, and policy; written down before the first run."""
