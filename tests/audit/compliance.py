"""Teams under a regulation: whether what their evidence says is so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.audit.tree import Tree
from tests.conftest import REPOSITORY


def _regulated(tree: Tree) -> dict[str, dict[str, Any]]:
    """Return the teams that are under a regulation, each with the controls that it lists."""
    named = {
        team: profile["compliance"]
        for team, profile in tree.teams.items()
        if "compliance" in profile
    }
    return {team: tree.regulations[name]["controls"] for team, name in named.items()}


def regulated_nodes_are_nobody_elses(tree: Tree) -> Iterator[str]:
    """No team outside has quota on them, and nothing is lent or borrowed."""
    owners: dict[str, set[str]] = {}
    for queue in tree.of("ClusterQueue"):
        for group in queue.spec["resourceGroups"]:
            for flavor in group["flavors"]:
                owners.setdefault(flavor["name"], set()).add(tree.team_of(queue))
    for team, controls in _regulated(tree).items():
        for pool, holders in owners.items():
            if "dedicatedNodes" in controls and team in holders and holders - set(_regulated(tree)):
                yield f"pool {pool} of team {team} is {sorted(holders)}'s"
        queues = [each for each in tree.of("ClusterQueue") if tree.team_of(each) == team]
        yield from (f"{each.path}: in a cohort" for each in queues if "cohortName" in each.spec)


def regulated_data_is_on_encrypted_storage(tree: Tree) -> Iterator[str]:
    storage = tree.cluster.get("storage", {}).values()
    encrypted = {each["class"] for each in storage if each.get("encrypted") and "class" in each}
    for claim in tree.of("PersistentVolumeClaim"):
        controls = _regulated(tree).get(tree.team_of(claim), {})
        if "encryptedStorage" in controls and claim.spec.get("storageClassName") not in encrypted:
            yield f"{claim.path}: on {claim.spec.get('storageClassName')}"


def regulated_namespaces_are_recorded(tree: Tree) -> Iterator[str]:
    """Reads of secrets and every change, by the first rule that matches."""
    (rules,) = [
        each.body["rules"] for each in tree.documents if each.path == "operators/audit-policy.yaml"
    ] or [[]]
    recorded = {
        name
        for rule in rules
        if rule["level"] == "RequestResponse"
        for name in rule.get("namespaces", ())
    }
    for team, controls in _regulated(tree).items():
        if "audit" in controls and not set(tree.namespaces(team)) <= recorded:
            yield f"team {team}: what happens in its namespaces is not recorded"


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
"""Level of a request by verb, group, resource and namespace, where no regulated team is
concerned."""
_IN_REGULATED = {
    "get": "Metadata",
    "list": "Metadata",
    "create": "RequestResponse",
    "delete": "RequestResponse",
}


def the_log_has_what_matters_and_no_heartbeats(tree: Tree) -> Iterator[str]:
    """The first rule that matches decides (k8s.io/apiserver:pkg/audit/policy/checker.go)."""
    for policy in (each for each in tree.documents if each.path == "operators/audit-policy.yaml"):
        teams = [team for team, controls in _regulated(tree).items() if "audit" in controls]
        regulated = [name for team in teams for name in tree.namespaces(team)]
        inside = {
            (verb, "trainer.kubeflow.org", "trainjobs", namespace): level
            for namespace in regulated
            for verb, level in _IN_REGULATED.items()
        }
        for request, level in (_EXPECTED | inside).items():
            logged = next(
                rule["level"] for rule in policy.body["rules"] if _concerns(rule, *request)
            )
            if logged != level:
                yield f"{policy.path}: {request} is logged as {logged}, not as {level}"


def _concerns(rule: dict[str, Any], verb: str, group: str, resource: str, namespace: str) -> bool:
    resources = rule.get("resources", [{"group": group}])
    named = [each.get("resources", [resource]) for each in resources if each["group"] == group]
    return (
        verb in rule.get("verbs", [verb])
        and namespace in rule.get("namespaces", [namespace])
        and any(resource in each for each in named)
    )


def regulated_nodes_are_in_fips_mode(tree: Tree) -> Iterator[str]:
    """Where that is stated, the sshd of each MPI job takes approved algorithms only."""
    stated = any("fips" in controls for controls in _regulated(tree).values())
    if stated and tree.cluster.get("fips") is not True:
        yield f"cluster {tree.name} is not in FIPS mode"
    for runtime in tree.of("ClusterTrainingRuntime") if tree.cluster.get("fips") else ():
        (*_, node) = [
            job
            for job in runtime.spec["template"]["spec"]["replicatedJobs"]
            if job["name"] == "node"
        ]
        environment = node["template"]["spec"]["template"]["spec"]["containers"][0].get("env", [])
        if (
            "mpi" in runtime.spec["mlPolicy"]
            and {"name": "SSH_CRYPTO", "value": "fips"} not in environment
        ):
            yield f"{runtime.path}: sshd takes any algorithm"


def evidence_is_there(tree: Tree) -> Iterator[str]:
    """Each control of each team has a row, and each row names objects of this tree."""
    paths = {each.path for each in tree.documents}
    sections = {
        part.partition("\n")[0].rpartition("team ")[2]: part
        for part in tree.evidence.split("\n## ")
    }
    for team, controls in _regulated(tree).items():
        rows = [line for line in sections.get(team, "").splitlines() if line.startswith("| ")][1:]
        told = [row.split("|")[1].strip() for row in rows]
        if sorted(told) != sorted(controls.values()):
            yield f"team {team}: controls {sorted(told)}"
        for row in rows:
            named = set(re.findall(r"`([^`]+)`", row))
            others = {each for each in named - paths if not _is_statement(each)}
            if not named or others:
                yield (
                    f"team {team}: {row.split('|')[1].strip()} names {sorted(others) or 'nothing'}"
                )


def _is_statement(named: str) -> bool:
    """Tell whether evidence names what a profile states, such as `fips: true`, or that profile."""
    return ": " in named or (REPOSITORY / named).is_file()


AUDITS = (
    regulated_nodes_are_nobody_elses,
    regulated_data_is_on_encrypted_storage,
    regulated_namespaces_are_recorded,
    the_log_has_what_matters_and_no_heartbeats,
    regulated_nodes_are_in_fips_mode,
    evidence_is_there,
)
