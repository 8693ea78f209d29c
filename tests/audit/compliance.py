"""Teams under a regulation: the tree has what their evidence states."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import product
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


_BY_CONTROLLERS = {
    ("patch", "trainer.kubeflow.org", "trainjobs/status", "team-of-nobody"): "None",
    ("update", "kueue.x-k8s.io", "clusterqueues/status", ""): "None",
    ("update", "discovery.k8s.io", "endpointslices", "team-of-nobody"): "None",
    ("patch", "", "pods/status", "team-of-nobody"): "None",
    ("create", "", "pods", "team-of-nobody"): "Metadata",
    ("update", "trainer.kubeflow.org", "trainjobs", "team-of-nobody"): "Metadata",
}
"""Level of a service account's request, likewise; what only a person does is below."""
_EXPECTED = {
    ("update", "coordination.k8s.io", "leases", "kube-system"): "None",
    ("create", "authorization.k8s.io", "subjectaccessreviews", ""): "None",
    ("get", "", "pods", "kube-system"): "None",
    ("watch", "kueue.x-k8s.io", "workloads", ""): "None",
    ("list", "", "secrets", ""): "Metadata",
    ("get", "", "secrets", "external-secrets"): "Metadata",
    ("get", "", "pods/exec", "kube-system"): "Metadata",
    ("create", "apps", "deployments", "kube-system"): "Metadata",
    ("patch", "kueue.x-k8s.io", "clusterqueues", ""): "Request",
    ("patch", "trainer.kubeflow.org", "trainjobs/status", "team-of-nobody"): "Metadata",
    ("create", "trainer.kubeflow.org", "trainjobs", "team-of-nobody"): "Metadata",
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
        rules = policy.body["rules"]
        of_people = [each for each in rules if "userGroups" not in each]
        for requests, asked in (
            ([*_EXPECTED.items(), *_expected_in_regulated(tree)], of_people),
            (_BY_CONTROLLERS.items(), rules),
        ):
            for request, level in requests:
                logged = next(rule["level"] for rule in asked if _concerns(rule, *request))
                if logged != level:
                    yield f"{policy.path}: {request} is logged as {logged}, not as {level}"


def _expected_in_regulated(tree: Tree) -> Iterator[tuple[tuple[str, str, str, str], str]]:
    """Yield each request in a regulated team's namespaces, and its level."""
    for team, controls in _regulated(tree).items():
        if "audit" in controls:
            yield ("list", "", "pods", ""), "Metadata"
            for namespace, (verb, level) in product(tree.namespaces(team), _IN_REGULATED.items()):
                yield (verb, "trainer.kubeflow.org", "trainjobs", namespace), level


def _concerns(rule: dict[str, Any], verb: str, group: str, resource: str, namespace: str) -> bool:
    resources = rule.get("resources", [{"group": group}])
    named = [each.get("resources", [resource]) for each in resources if each["group"] == group]
    return (
        verb in rule.get("verbs", [verb])
        and namespace in rule.get("namespaces", [namespace])
        and any(resource in each or _part_of_any(resource) in each for each in named)
    )


def _part_of_any(resource: str) -> str:
    """Return the pattern of a subresource of any resource."""
    return f"*/{resource.partition('/')[2]}"


def lines_are_kept_as_long_as_stated(tree: Tree) -> Iterator[str]:
    """By the README, of the streams that match a namespace the highest priority counts."""
    logs = tree.cluster.get("monitoring", {}).get("logs")
    periods = _PERIODS.findall(tree.readme)
    if logs is None:
        yield from (f"the README keeps {each[0]}" for each in periods)
        return
    for team, profile in tree.teams.items():
        regulation = tree.regulations.get(profile.get("compliance", ""), {})
        stated = (logs.get("keep", "7d"), regulation.get("keepLogs", "0d"))
        wanted = max(int(each.removesuffix("d")) for each in stated)
        for namespace in tree.namespaces(team):
            matching = [each for each in periods if re.fullmatch(each[0], namespace)]
            kept = {_days(each[2]) for each in matching[-1:]}
            ordered = [int(each[1]) for each in periods]
            if kept != {wanted} or ordered != sorted(ordered):
                yield f"lines of {namespace} are kept {sorted(kept)} days, not {wanted}"


_PERIODS = re.compile(r"namespace(?:_name)?=~\"([^\"]+)\"}', priority: (\d+), (\w+: \d+)")


def _days(period: str) -> int:
    """Return the days of a period, which is in days or hours."""
    unit, _, number = period.partition(": ")
    return int(number) // (1 if unit == "days" else 24)


def forwarders_collect_the_teams_only(tree: Tree) -> Iterator[str]:
    """On every node that is promised, and into the store of OpenShift's own logging."""
    hardware = [tree.hardware_of(pool) for pool in tree.cluster["pools"]]
    taints = {str(each["taint"]) for each in hardware if each.get("taint")}
    for forwarder in tree.of("ClusterLogForwarder"):
        spec = forwarder.spec
        tolerated = {each["key"] for each in spec.get("collector", {}).get("tolerations", ())}
        if tolerated != taints:
            yield f"{forwarder.path}: tolerates {sorted(tolerated)}, not {sorted(taints)}"
        for each in spec["inputs"]:
            namespaces = [one["namespace"] for one in each["application"]["includes"]]
            if namespaces != ["team-*"]:
                yield f"{forwarder.path}: collects {namespaces}"
        stated = tree.cluster["monitoring"]["logs"].get("dropCredentials", False)
        filters = [each["type"] for each in spec.get("filters", ())]
        used = [name for each in spec["pipelines"] for name in each.get("filterRefs", ())]
        if (filters == ["drop"]) is not stated or bool(used) is not stated:
            yield f"{forwarder.path}: filters {filters}, of which {used} are used"


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
    """Yield each control of a team's evidence, and what answers it."""
    for section in tree.evidence.split("\n## "):
        if section.partition("\n")[0].rpartition("team ")[2] == team:
            for answer in section.split("\n### ")[1:]:
                yield answer.partition(": ")[0], answer


def _is_statement(named: str) -> bool:
    """Return whether evidence names a statement, such as `fips: true`, or its profile."""
    return ": " in named or (REPOSITORY / named).is_file()


AUDITS = (
    regulated_nodes_are_dedicated,
    regulated_data_is_on_encrypted_storage,
    regulated_namespaces_are_logged,
    requests_are_logged_at_their_level,
    forwarders_collect_the_teams_only,
    regulated_nodes_are_in_fips_mode,
    evidence_is_there,
)
