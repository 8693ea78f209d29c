"""Who may run the commands of the runbooks: derived from the roles that the tree gives."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.pages import ROOT
from trainyard.render.alerts.rights import ADMIN, Right, commands, marked, needed, permitted
from trainyard.render.alerts.rulesets import FAMILIES
from trainyard.yaml_io.manifests import parse_manifests

CLUSTERS = ("lab", "prod-east")
TEAMS = {alert.name for family in FAMILIES.values() for alert in family if alert.for_team}
FOR_ADMINS = {
    "cordon",
    "debug node/NODE",
    "describe externalsecret",
    "exec POD",
    "get application",
    "get leases",
    "get mutatingwebhookconfigurations,validatingwebhookconfigurations",
    "get secrets",
    "get servicemonitors,podmonitors",
    "get validatingadmissionpolicies",
    "logs deployment/",
    "rollout restart deployment",
    "uncordon",
}
"""Begins of commands, without their namespace, that no role of the tree permits."""


def section(cluster: str) -> dict[str, str]:
    """Return the text of each alert in the runbooks of a cluster of this repository."""
    text = (ROOT / f"overlays/{cluster}/RUNBOOKS.md").read_text("utf-8")
    _, *parts = re.split(r"^## (?=Trainyard)", text, flags=re.MULTILINE)
    return {part.partition("\n")[0]: part for part in parts}


def role(cluster: str, name: str) -> frozenset[Right]:
    path = ROOT / f"overlays/{cluster}/platform/clusterrole-trainyard-{name}.yaml"
    (body,) = parse_manifests(path.read_text("utf-8"))
    assert isinstance(body, dict)
    return permitted(body)


def plain(command: str) -> str:
    """Return a command without its program and namespace."""
    return re.sub(r"^\w+ (adm )?(-n \S+ )?", "", command)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_operators_may_run_each_command_without_a_mark_and_no_other(cluster: str) -> None:
    rights = role(cluster, "operator")
    text = "".join(section(cluster).values())
    for command in commands(text):
        assert needed(command), command
        has_mark = f"`{command}` {ADMIN}" in text
        assert has_mark is not (needed(command) <= rights), command


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_commands_for_admins_are_those_that_are_listed(cluster: str) -> None:
    """Another one is a step that operators can't take: look for a way that they can."""
    text = "".join(section(cluster).values())
    for command in commands(text):
        is_listed = plain(command).startswith(tuple(FOR_ADMINS))
        assert (f"`{command}` {ADMIN}" in text) is is_listed, command


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_users_of_a_team_may_run_what_its_alerts_ask_in_its_namespace(cluster: str) -> None:
    rights = role(cluster, "team-user")
    found = section(cluster)
    asked = {
        command
        for name in TEAMS & {*found}
        for command in commands(found[name])
        if " -n NAMESPACE " in command and f"`{command}` {ADMIN}" not in found[name]
    }
    assert asked
    assert {command for command in asked if not needed(command) <= rights} == set()


@pytest.mark.parametrize(
    ("command", "rights"),
    [
        ("oc get clusterqueue QUEUE -o yaml", {"get clusterqueues", "list clusterqueues"}),
        ("kubectl -n x get events --sort-by y", {"get events", "list events"}),
        ("oc get a,bs --all-namespaces", {"get as", "get bs", "list as", "list bs"}),
        ("oc -n x delete trainjob JOB", {"delete trainjobs"}),
        ("oc -n x logs POD --tail 50", {"get pods/log"}),
        ("oc -n x logs deployment/y", {"get deployments"}),
        ("oc adm uncordon NODE", {"get nodes", "patch nodes"}),
        ("kubectl -n kube-system debug node/NODE -it -- ls", {"create pods"}),
        ("oc -n x exec POD -- ls", {"create pods/exec", "get pods/exec"}),
        ("oc frobnicate", set[str]()),
    ],
)
def test_command_needs_the_rights_of_its_verb(command: str, rights: set[str]) -> None:
    assert {" ".join(right) for right in needed(command)} == rights


def test_less_rights_mean_more_marks() -> None:
    """A command of an unknown form is for an admin."""
    rule: dict[str, Any] = {"verbs": ["get", "list"], "resources": ["pods"]}
    rights = permitted({"rules": [rule]})
    assert marked("`oc get pods`: all", rights) == "`oc get pods`: all"
    assert marked("`oc get pods`: all", frozenset()) == f"`oc get pods` {ADMIN}: all"
    assert marked("`oc frobnicate`", rights) == f"`oc frobnicate` {ADMIN}"
    assert marked("`trainyard fit`, `git log`", frozenset()) == "`trainyard fit`, `git log`"
