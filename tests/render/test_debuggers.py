"""What a team's debuggers add to a tree."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.resolve.changes import together
from tests.rules.cases import platform_of
from trainyard.model.manifest import Manifest
from trainyard.render.site import render_site

_DEBUGGERS = {
    "teams/nlp.yaml": {
        "debuggers": {"groups": ["experts"], "until": "2027-01-31", "reason": "jobs hang"}
    }
}
_PLAIN = {"clusters/prod-east.yaml": {"release": "kubernetes-1.36"}}


def _objects(changes: dict[str, Any]) -> dict[str, Manifest]:
    manifests = render_site(platform_of(changes).sites[0])
    return {f"{each.kind.name}/{each.name}": each for each in manifests}


@pytest.mark.parametrize("release", ["kubernetes-1.36", "openshift-ai-3.5"])
def test_role_and_policy_exist_only_where_a_team_has_debuggers(release: str) -> None:
    base = {"clusters/prod-east.yaml": {"release": release}}
    added = _objects(together(base, _DEBUGGERS)).keys() - _objects(base).keys()

    expected = {
        "ClusterRole/trainyard-team-debugger",
        "RoleBinding/debugger",
        "ValidatingAdmissionPolicy/trainyard-shells",
        "ValidatingAdmissionPolicyBinding/trainyard-shells",
    }
    assert {each for each in added if not each.startswith("Policy/")} == expected


def test_group_has_the_role_in_its_own_team_only() -> None:
    manifests = render_site(platform_of(_DEBUGGERS).sites[0])
    bindings = [each for each in manifests if each.name == "debugger"]

    assert [each.namespace for each in bindings] == ["team-nlp"]
    assert [each["name"] for each in bindings[0].body["subjects"]] == ["experts"]


def test_audit_policy_for_debuggers_alone_has_no_rule_for_every_namespace_by_mistake() -> None:
    """An empty list of namespaces would be all of them."""
    objects = _objects(together(_PLAIN, _DEBUGGERS))
    (policy,) = [each.body for key, each in objects.items() if key.startswith("Policy/")]

    assert not any("namespaces" in rule for rule in policy["rules"])
    recorded = policy["rules"][0]
    assert recorded["level"] == "Metadata"
    assert "pods/exec" in recorded["resources"][0]["resources"]


@pytest.mark.parametrize(
    ("pod", "is_of_a_job"),
    [
        ("train-launcher-0-0-x7k2p", True),
        ("train-node-0-14-x7k2p", True),
        ("workbench-0", False),
        ("train-node-0-0-0", False),
        ("train-model-initializer-0-0-x7k2p", False),
        ("train-node-0-0-x7k2pq", False),
        ("train-node-0-0-aeiou", False),
    ],
)
def test_shells_are_opened_in_launchers_and_nodes(pod: str, is_of_a_job: bool) -> None:
    policy = _objects(_DEBUGGERS)["ValidatingAdmissionPolicy/trainyard-shells"].body["spec"]
    variables = {each["name"]: each["expression"] for each in policy["variables"]}
    pattern = re.search(r"matches\('(.+)'\)", variables["rank"])

    assert pattern
    assert bool(re.search(pattern[1], pod)) == is_of_a_job
