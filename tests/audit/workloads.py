"""Runtimes, jobs, and no secret in Git."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from tests.audit.tree import Tree, mappings, strings

_COMPUTE = {"cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"}
"""Resources that Kueue counts; a ResourceQuota for them would refuse pods of admitted jobs."""

_ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"
_IDS = {"fsGroup", "runAsGroup", "runAsUser", "supplementalGroups"}
_HOST = {"hostIPC", "hostNetwork", "hostPID", "hostPath", "hostPort", "privileged"}
_KEYS = re.compile(
    r"-----BEGIN|\bAKIA[0-9A-Z]{16}\b|\beyJ[A-Za-z0-9_-]{20,}|\bgh[pousr]_[A-Za-z0-9]{30,}"
    r"|\bglpat-|\bhvs\.|\bxox[abp]-"
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
        drops_all = security.get("capabilities") == {"drop": ["ALL"]}
        if security.get("allowPrivilegeEscalation") is not False or not drops_all:
            yield f"{where}: not confined"
        if not re.search(r"@sha256:[0-9a-f]{64}\Z", container["image"]):
            yield f"{where}: image without digest"


def no_ids_and_no_host(tree: Tree) -> Iterator[str]:
    """On OpenShift no object states ids, which restricted-v2 sets; elsewhere none is root's.

    Group 0 is permitted: images expect it of a user whom they don't know (OpenShift's image
    guidelines), and it has no privileges.
    """
    for document in tree.documents:
        for path, fields in mappings(document.body):
            ids = _IDS & set(fields)
            if not tree.openshift:
                ids = {field for field in ids - {"runAsGroup"} if fields[field] == 0}
            for field in sorted(ids | (_HOST & set(fields))):
                yield f"{document.path}: {path}.{field}"


def pods_have_no_token(tree: Tree) -> Iterator[str]:
    for account in tree.of("ServiceAccount"):
        if account.body.get("automountServiceAccountToken") is not False:
            yield f"{account.path}: mounts a token"
    for runtime in tree.of("ClusterTrainingRuntime"):
        for path, fields in mappings(runtime.body):
            mounts = fields.get("automountServiceAccountToken") is not False
            if "containers" in fields and ".metadata" not in path and mounts:
                yield f"{runtime.path}: {path} mounts a token"


def kubelet_replaces_nothing(tree: Tree) -> Iterator[str]:
    """kubelet replaces ``$$`` and ``$(NAME)`` in commands and values, which changes scripts."""
    for where, container in _containers(tree):
        names = {variable["name"] for variable in container.get("env", ())}
        for _, text in strings([container.get(key) for key in ("command", "args", "env")]):
            if "$$" in text or names & set(re.findall(r"\$\(([^)]*)\)", text)):
                yield f"{where}: {text[:40]!r}"


def every_namespace_has_defaults(tree: Tree) -> Iterator[str]:
    """Pods get default requests and no limits on their own; the number of objects is limited."""
    for namespace in tree.all_namespaces():
        ranges = [each["limits"] for each in _specs(tree, "LimitRange", namespace)]
        limits = list(chain.from_iterable(ranges))
        if list(map(set, limits)) != [{"type", "default", "defaultRequest"}]:
            yield f"{namespace}: limits {limits}"
        quotas = [each["hard"] for each in _specs(tree, "ResourceQuota", namespace)]
        if list(map(_limits_objects_only, quotas)) != [True]:
            yield f"{namespace}: quota {quotas}"


def _specs(tree: Tree, kind: str, namespace: str) -> list[dict[str, Any]]:
    return [each.spec for each in tree.of(kind) if each.namespace == namespace]


def _limits_objects_only(hard: dict[str, str]) -> bool:
    return {"services.loadbalancers", "services.nodeports"} <= hard.keys() and not (
        _COMPUTE & hard.keys()
    )


def mpi_runtimes_have_the_form_of_trainer(tree: Tree) -> Iterator[str]:
    """A runtime for jobs of one node has the launcher only; another's jobs have two or more, or a
    launcher without ranks."""
    for runtime in tree.of("ClusterTrainingRuntime"):
        if "mpi" in runtime.spec["mlPolicy"]:
            sizes = set(_sizes(tree, runtime.name))
            small = set(_launchers(tree, runtime.name)) == {"small"}
            one_pod = sizes == {(1, 1)} and not small
            if not (one_pod or small) and any(low < 2 for low, _ in sizes):
                yield f"{runtime.path}: its jobs may have a launcher without nodes"
            if runtime.spec["mlPolicy"]["mpi"].get("runLauncherAsNode") is small:
                yield f"{runtime.path}: admission and Trainer differ about its launcher"
            for fault in _mpi_faults(runtime.spec, one_pod=one_pod):
                yield f"{runtime.path}: {fault}"


def _launchers(tree: Tree, runtime: str) -> Iterator[str]:
    """Yield the kind of launcher that each namespace's limits state for a runtime."""
    for limits in tree.of("ConfigMap"):
        data = limits.body["data"]
        if runtime in data.get("runtimes", "").split():
            yield data.get(f"launcherPod.{runtime}", "node")


def _sizes(tree: Tree, runtime: str) -> Iterator[tuple[int, int]]:
    """Yield the fewest and most nodes of a job with a runtime, of each namespace."""
    for limits in tree.of("ConfigMap"):
        data = limits.body["data"]
        if runtime in data.get("runtimes", "").split():
            yield int(data[f"minNodes.{runtime}"]), int(data[f"maxNodes.{runtime}"])


def _mpi_faults(spec: dict[str, Any], *, one_pod: bool) -> Iterator[str]:
    if spec["mlPolicy"]["numNodes"] != 1:
        yield "numNodes must be 1, for one launcher"
    jobs = spec["template"]["spec"]["replicatedJobs"]
    wanted = ["launcher"] if one_pod else ["node", "launcher"]
    if [job["name"] for job in jobs] != wanted:
        yield f"jobs are not {', then '.join(wanted)}"
        return
    *nodes, launcher = jobs
    yield from _step_faults(nodes, launcher)
    yield from _pod_faults(nodes, launcher)


def _step_faults(nodes: list[dict[str, Any]], launcher: dict[str, Any]) -> Iterator[str]:
    awaited = [{"name": "node", "status": "Ready"} for _ in nodes]
    if launcher.get("dependsOn", []) != awaited or any("dependsOn" in node for node in nodes):
        yield "the launcher does not wait for ready nodes, or waits for others"
    if launcher["template"].get("metadata", {}).get("labels", {}).get(_ANCESTOR) != "trainer":
        yield "the launcher is not the trainer step"
    if _ANCESTOR in str(nodes):
        yield "the node has the ancestor label"


def _pod_faults(nodes: list[dict[str, Any]], launcher: dict[str, Any]) -> Iterator[str]:
    *of_nodes, own = (
        job["template"]["spec"]["template"]["spec"]["containers"] for job in (*nodes, launcher)
    )
    if any([each["name"] for each in pod] != ["node"] for pod in (*of_nodes, own)):
        yield "the containers are not named node"
    if any("readinessProbe" not in pod[0] for pod in of_nodes):
        yield "a node is ready before its sshd is"
    if any(job["replicas"] != 1 for job in (*nodes, launcher)):
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
    mpi_runtimes_have_the_form_of_trainer,
)
