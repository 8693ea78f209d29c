"""Teams under a regulation: the tree has what their evidence states."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice, product
from typing import Any

from tests.audit.tree import Document, Tree
from tests.conftest import REPOSITORY


def _regulated(tree: Tree) -> dict[str, dict[str, Any]]:
    """Return the controls of each team under a regulation."""
    return {
        team: tree.regulations[profile["compliance"]]["controls"]
        for team, profile in tree.teams.items()
        if "compliance" in profile
    }


def regulated_nodes_are_dedicated(tree: Tree) -> Iterator[str]:
    """No unregulated team has quota on them, and their quota is neither lent nor borrowed."""
    owners = _owners(tree)
    regulated = _regulated(tree)
    yield from (f"{queue.path}: in a cohort" for queue in _shared_queues(tree))
    dedicated = {team for team, controls in regulated.items() if "dedicatedNodes" in controls}
    for pool, holders in owners.items():
        if dedicated & holders and holders - regulated.keys():
            yield f"pool {pool} belongs to {sorted(holders)}"


def _shared_queues(tree: Tree) -> list[Document]:
    """Return the queues of regulated teams that are in a cohort."""
    regulated = _regulated(tree)
    queues = [queue for queue in tree.of("ClusterQueue") if "cohortName" in queue.spec]
    return [queue for queue in queues if tree.team_of(queue) in regulated]


def _owners(tree: Tree) -> dict[str, set[str]]:
    """Return the teams with quota on each flavor."""
    owners: dict[str, set[str]] = {}
    for queue in tree.of("ClusterQueue"):
        for group in queue.spec["resourceGroups"]:
            for flavor in group["flavors"]:
                owners.setdefault(flavor["name"], set()).add(tree.team_of(queue))
    return owners


def regulated_data_is_on_encrypted_storage(tree: Tree) -> Iterator[str]:
    storage = tree.cluster.get("storage", {}).values()
    encrypted = {each["class"] for each in storage if each.get("encrypted") and "class" in each}
    for claim in tree.of("PersistentVolumeClaim"):
        controls = _regulated(tree).get(tree.team_of(claim), {})
        if "encryptedStorage" in controls and claim.spec.get("storageClassName") not in encrypted:
            yield f"{claim.path}: on {claim.spec.get('storageClassName')}"


def regulated_namespaces_are_logged(tree: Tree) -> Iterator[str]:
    """The audit log has requests and responses of a regulated team's namespaces."""
    recorded: set[str] = set()
    for policy in _audit_policies(tree):
        for rule in policy.body["rules"]:
            if rule["level"] == "RequestResponse":
                recorded.update(rule.get("namespaces", ()))
    for team, controls in _regulated(tree).items():
        if "audit" in controls and not set(tree.namespaces(team)) <= recorded:
            yield f"team {team}: what happens in its namespaces is not recorded"


def _audit_policies(tree: Tree) -> list[Document]:
    """Return the audit policy of a cluster that has one."""
    return [each for each in tree.documents if each.path == "operators/audit-policy.yaml"]


_EXPECTED = {
    ("update", "coordination.k8s.io", "leases", "kube-system"): "None",
    ("create", "authorization.k8s.io", "subjectaccessreviews", ""): "None",
    ("get", "", "pods", "kube-system"): "None",
    ("watch", "kueue.x-k8s.io", "workloads", ""): "None",
    ("list", "", "secrets", ""): "Metadata",
    ("get", "", "secrets", "external-secrets"): "Metadata",
    ("list", "", "pods", ""): "Metadata",
    ("get", "", "pods/exec", "kube-system"): "Metadata",
    ("create", "apps", "deployments", "kube-system"): "Metadata",
    ("patch", "kueue.x-k8s.io", "clusterqueues", ""): "Request",
}
"""Level of a request by verb, group, resource and namespace, outside regulated namespaces."""
_IN_REGULATED = {
    "get": "Metadata",
    "list": "Metadata",
    "create": "RequestResponse",
    "delete": "RequestResponse",
}


def requests_are_logged_at_their_level(tree: Tree) -> Iterator[str]:
    """The first rule that matches decides (k8s.io/apiserver:pkg/audit/policy/checker.go)."""
    for policy in _audit_policies(tree):
        for request, level in [*_EXPECTED.items(), *_expected_in_regulated(tree)]:
            levels = (rule["level"] for rule in policy.body["rules"] if _concerns(rule, *request))
            logged = next(levels)
            if logged != level:
                yield f"{policy.path}: {request} is logged as {logged}, not as {level}"


def _expected_in_regulated(tree: Tree) -> Iterator[tuple[tuple[str, str, str, str], str]]:
    """Yield each request in a regulated team's namespaces, and its level."""
    for team, controls in _regulated(tree).items():
        if "audit" in controls:
            for namespace, (verb, level) in product(tree.namespaces(team), _IN_REGULATED.items()):
                yield (verb, "trainer.kubeflow.org", "trainjobs", namespace), level


def _concerns(rule: dict[str, Any], verb: str, group: str, resource: str, namespace: str) -> bool:
    resources = rule.get("resources", [{"group": group}])
    named = [each.get("resources", [resource]) for each in resources if each["group"] == group]
    return (
        verb in rule.get("verbs", [verb])
        and namespace in rule.get("namespaces", [namespace])
        and any(resource in each for each in named)
    )


def regulated_nodes_are_in_fips_mode(tree: Tree) -> Iterator[str]:
    """In FIPS mode, the sshd of each MPI job accepts approved algorithms only.

    A launcher without nodes starts no sshd.
    """
    stated = any("fips" in controls for controls in _regulated(tree).values())
    if stated and tree.cluster.get("fips") is not True:
        yield f"cluster {tree.name} is not in FIPS mode"
    if tree.cluster.get("fips"):
        for runtime in tree.of("ClusterTrainingRuntime"):
            if "mpi" in runtime.spec["mlPolicy"]:
                yield from _sshd_faults(runtime)


_FIPS = {"name": "SSH_CRYPTO", "value": "fips"}


def _sshd_faults(runtime: Document) -> Iterator[str]:
    """Yield each replicated job whose sshd is not restricted; nodes always have one."""
    for job in runtime.spec["template"]["spec"]["replicatedJobs"]:
        (container, *_) = job["template"]["spec"]["template"]["spec"]["containers"]
        starts = "/usr/sbin/sshd" in json.dumps(container)
        if (starts or job["name"] == "node") and _FIPS not in container.get("env", ()):
            yield f"{runtime.path}: sshd of {job['name']} accepts any algorithm"


def evidence_is_there(tree: Tree) -> Iterator[str]:
    """Each control of each team has a row, and each row names objects of this tree."""
    paths = {each.path for each in tree.documents}
    for team, controls in _regulated(tree).items():
        listed = sorted(control for control, _ in _rows(tree, team))
        if listed != sorted(controls.values()):
            yield f"team {team}: controls {listed}"
        for control, row in _rows(tree, team):
            named = set(re.findall(r"`([^`]+)`", row))
            known = paths.union(filter(_is_statement, named))
            if not named or named - known:
                yield f"team {team}: {control} names {sorted(named - known)}"


def _rows(tree: Tree, team: str) -> Iterator[tuple[str, str]]:
    """Yield control and text of each row of a team's evidence."""
    for section in tree.evidence.split("\n## "):
        if section.partition("\n")[0].rpartition("team ")[2] == team:
            rows = (line for line in section.splitlines() if line.startswith("| "))
            for row in islice(rows, 1, None):
                yield row.split("|")[1].strip(), row


def _is_statement(named: str) -> bool:
    """Return whether evidence names a statement, such as `fips: true`, or its profile."""
    return ": " in named or (REPOSITORY / named).is_file()


AUDITS = (
    regulated_nodes_are_dedicated,
    regulated_data_is_on_encrypted_storage,
    regulated_namespaces_are_logged,
    requests_are_logged_at_their_level,
    regulated_nodes_are_in_fips_mode,
    evidence_is_there,
)
