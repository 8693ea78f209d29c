"""What a team with runtimes of its own adds to a tree."""

from __future__ import annotations

from typing import Any

import pytest

from tests.resolve.changes import together
from tests.rules.cases import platform_of
from trainyard.model.manifest import Manifest
from trainyard.render.site import render_site

_OWN = {"teams/nlp.yaml": {"ownRuntimes": 2}}


def _objects(changes: dict[str, Any]) -> dict[str, Manifest]:
    manifests = render_site(platform_of(changes).sites[0])
    return {f"{each.kind.name}/{each.name}": each for each in manifests}


@pytest.mark.parametrize("release", ["kubernetes-1.36", "openshift-ai-3.5"])
def test_role_and_policies_exist_only_where_a_team_has_own_runtimes(release: str) -> None:
    base = {"clusters/prod-east.yaml": {"release": release}}
    with_own = _objects(together(base, _OWN))
    (runtime,) = (key for key in with_own if key.startswith("ClusterTrainingRuntime/"))

    assert with_own.keys() - _objects(base).keys() == {
        "ClusterRole/trainyard-team-runtimes",
        "RoleBinding/runtimes",
        "ValidatingAdmissionPolicy/trainyard-own-runtimes",
        "ValidatingAdmissionPolicy/trainyard-copies",
        "ValidatingAdmissionPolicyBinding/own-runtimes-nlp",
        f"ValidatingAdmissionPolicyBinding/copies-of-{runtime.partition('/')[2]}",
    }


def test_copies_are_compared_with_their_runtime_or_refused() -> None:
    """A runtime that does not exist is not a reason to admit its copy."""
    objects = _objects(_OWN)
    for key, each in objects.items():
        if key.startswith("ValidatingAdmissionPolicyBinding/copies-of-"):
            spec = each.body["spec"]
            name = spec["paramRef"]["name"]
            assert f"ClusterTrainingRuntime/{name}" in objects
            assert spec["paramRef"]["parameterNotFoundAction"] == "Deny"
            assert list(spec["matchResources"]["objectSelector"]["matchLabels"].values()) == [name]


def test_namespace_is_closed_until_the_policies_of_copies_have_arrived() -> None:
    """The team's role is in another unit, which may be synced before the platform's."""
    objects = _objects(_OWN)
    listed, binding = (
        objects["ConfigMap/admitted-namespaces"].body,
        objects["ValidatingAdmissionPolicyBinding/own-runtimes-nlp"].body,
    )
    assert listed["data"]["ownRuntimes"] == "team-nlp"
    wave = "argocd.argoproj.io/sync-wave"
    waves = [int(each["metadata"]["annotations"][wave]) for each in (binding, listed)]
    assert waves == sorted(set(waves))
    closed = "ValidatingAdmissionPolicy/trainyard-closed-until-admitted"
    kinds = [
        kind
        for rule in objects[closed].body["spec"]["matchConstraints"]["resourceRules"]
        for kind in rule["resources"]
    ]
    assert kinds == ["trainjobs", "trainingruntimes"]
    assert "ownRuntimes" not in _objects({})["ConfigMap/admitted-namespaces"].body["data"]


def test_namespace_holds_as_many_as_the_profile_states() -> None:
    def quotas(changes: dict[str, Any]) -> list[str | None]:
        manifests = render_site(platform_of(changes).sites[0])
        key = "count/trainingruntimes.trainer.kubeflow.org"
        return [
            each.body["spec"]["hard"].get(key)
            for each in manifests
            if each.kind.name == "ResourceQuota"
        ]

    assert quotas(_OWN) == ["2", None]
    assert quotas({}) == [None, None]
