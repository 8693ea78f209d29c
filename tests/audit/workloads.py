"""What runs: runtimes, jobs, and no secret in Git."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.audit.tree import Tree, mappings, strings

_COMPUTE = {"cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"}
"""Kueue counts these; a ResourceQuota beside it would refuse pods of an admitted job."""

_ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"
_IDS = {"fsGroup", "runAsGroup", "runAsUser", "supplementalGroups"}
_HOST = {"hostIPC", "hostNetwork", "hostPID", "hostPath", "hostPort", "privileged"}
_KEYS = re.compile(
    r"-----BEGIN|\bAKIA[0-9A-Z]{16}\b|\beyJ[A-Za-z0-9_-]{20,}|\bgh[pousr]_[A-Za-z0-9]{30,}|\bglpat-|\bhvs\.|\bxox[abp]-"
)
_BLOB = re.compile(r"[A-Za-z0-9+/_-]{40,}={0,2}")
_PUBLIC = re.compile(r"sha256:[0-9a-f]{64}|^data:text/plain;charset=utf-8;base64,.*")


def no_secret_is_in_git(tree: Tree) -> Iterator[str]:
    for document in tree.documents:
        if document.kind == "Secret":
            yield f"{document.path}: a Secret"
        for where, text in strings(document.body):
            rest = _PUBLIC.sub("", text)
            if _KEYS.search(rest) or any(_random(blob) for blob in _BLOB.findall(rest)):
                yield f"{document.path}: {where} looks like a key"


def _random(blob: str) -> bool:
    return all(re.search(alphabet, blob) for alphabet in ("[a-z]", "[A-Z]", "[0-9]"))


def jobs_are_not_suspended_by_hand(tree: Tree) -> Iterator[str]:
    """Argo CD or a user's apply would fight Kueue for the field."""
    for job in tree.of("TrainJob"):
        if "suspend" in job.spec:
            yield f"{job.path}: suspend"


def _containers(tree: Tree) -> Iterator[tuple[str, dict[str, Any]]]:
    for document in tree.of("ClusterTrainingRuntime", "TrainingRuntime"):
        for path, fields in mappings(document.body):
            for field in ("containers", "initContainers"):
                for container in fields.get(field, ()):
                    yield f"{document.path}: {path}.{field} {container['name']}", container


def containers_are_guaranteed(tree: Tree) -> Iterator[str]:
    for where, container in _containers(tree):
        resources = container.get("resources", {})
        if not resources.get("requests") or resources.get("requests") != resources.get("limits"):
            yield f"{where}: requests are not the limits"


def containers_are_confined(tree: Tree) -> Iterator[str]:
    for where, container in _containers(tree):
        security = container.get("securityContext", {})
        if security.get("allowPrivilegeEscalation") is not False or security.get(
            "capabilities"
        ) != {"drop": ["ALL"]}:
            yield f"{where}: not confined"
        if not re.search(r"@sha256:[0-9a-f]{64}\Z", container["image"]):
            yield f"{where}: image without digest"


def no_ids_and_no_host(tree: Tree) -> Iterator[str]:
    """restricted-v2 gives each namespace its own ids and refuses others; elsewhere they are said,
    and never root's.

    Group 0 is what such images expect of a user whom they don't know (OpenShift's image
    guidelines); it has no power.
    """
    for document in tree.documents:
        for path, fields in mappings(document.body):
            said = _IDS & set(fields)
            ids = (
                said
                if tree.openshift
                else {field for field in said if field != "runAsGroup" and fields[field] == 0}
            )
            for field in sorted(ids | (_HOST & set(fields))):
                yield f"{document.path}: {path}.{field}"


def pods_have_no_token(tree: Tree) -> Iterator[str]:
    for document in tree.of("ClusterTrainingRuntime", "ServiceAccount"):
        for path, fields in mappings(document.body):
            if ("containers" in fields or document.kind == "ServiceAccount") and not path.count(
                ".metadata"
            ):
                if fields.get("automountServiceAccountToken") is not False:
                    yield f"{document.path}: {path} mounts a token"
                if document.kind == "ServiceAccount":
                    break


def kubelet_replaces_nothing(tree: Tree) -> Iterator[str]:
    """It reads ``$$`` and ``$(NAME)`` in commands and values; a script that means its own gets
    something else."""
    for where, container in _containers(tree):
        names = {variable["name"] for variable in container.get("env", ())}
        for _, text in strings(
            [container.get("command"), container.get("args"), container.get("env")]
        ):
            if "$$" in text or names & set(re.findall(r"\$\(([^)]*)\)", text)):
                yield f"{where}: {text[:40]!r}"


def every_namespace_has_defaults(tree: Tree) -> Iterator[str]:
    """A pod that says nothing gets amounts, no pod is refused for its own, and objects have a
    number."""
    for namespace in (namespace for team in tree.teams for namespace in tree.namespaces(team)):
        ranges = [each for each in tree.of("LimitRange") if each.namespace == namespace]
        limits = [limit for each in ranges for limit in each.spec["limits"]]
        if [set(limit) for limit in limits] != [{"type", "default", "defaultRequest"}]:
            yield f"{namespace}: limits {limits}"
        hard = [
            set(each.spec["hard"])
            for each in tree.of("ResourceQuota")
            if each.namespace == namespace
        ]
        if (
            len(hard) != 1
            or not {"services.loadbalancers", "services.nodeports"} <= hard[0]
            or hard[0] & _COMPUTE
        ):
            yield f"{namespace}: quota {hard}"


def mpi_runtimes_are_what_trainer_expects(tree: Tree) -> Iterator[str]:
    for runtime in (
        each for each in tree.of("ClusterTrainingRuntime") if "mpi" in each.spec["mlPolicy"]
    ):
        policy = runtime.spec["mlPolicy"]
        if policy["numNodes"] != 1 or policy["mpi"].get("runLauncherAsNode") is not True:
            yield f"{runtime.path}: numNodes must be 1, the launcher a node"
        jobs = runtime.spec["template"]["spec"]["replicatedJobs"]
        if [job["name"] for job in jobs] != ["node", "launcher"]:
            yield f"{runtime.path}: jobs are not node, then launcher"
            continue
        yield from (f"{runtime.path}: {fault}" for fault in _mpi_faults(*jobs))


def _mpi_faults(node: dict[str, Any], launcher: dict[str, Any]) -> Iterator[str]:
    if launcher.get("dependsOn") != [{"name": "node", "status": "Ready"}] or "dependsOn" in node:
        yield "the launcher does not wait for ready nodes"
    if launcher["template"].get("metadata", {}).get("labels", {}).get(_ANCESTOR) != "trainer":
        yield "the launcher is not the trainer step"
    if _ANCESTOR in str(node):
        yield "the node carries the ancestor label"
    pods = [job["template"]["spec"]["template"]["spec"] for job in (node, launcher)]
    if [[each["name"] for each in pod["containers"]] for pod in pods] != [["node"], ["node"]]:
        yield "the containers are not named node"
    if "readinessProbe" not in pods[0]["containers"][0]:
        yield "a node is ready before its sshd is"
    if node["replicas"] != 1 or launcher["replicas"] != 1:
        yield "replicas other than 1"


AUDITS = (
    no_secret_is_in_git,
    jobs_are_not_suspended_by_hand,
    containers_are_guaranteed,
    containers_are_confined,
    no_ids_and_no_host,
    pods_have_no_token,
    kubelet_replaces_nothing,
    every_namespace_has_defaults,
    mpi_runtimes_are_what_trainer_expects,
)
