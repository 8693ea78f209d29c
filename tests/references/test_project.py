from __future__ import annotations

from typing import Any

import pytest

from tests.references.trees import changed, flagship, messages, position, put, rules
from trainyard.diagnostics import Pointer
from trainyard.model.manifest import Manifest
from trainyard.references.graph import check_references

SITE, MANIFESTS = flagship()
AT = Pointer("profiles/components/extra/kustomization.yaml")


def _component(kind: str, name: str, namespace: str = "") -> list[Manifest]:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    body = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    return [*MANIFESTS, Manifest("teams/nlp/extra/object.yaml", body, (AT.file,), AT)]


def _drop_kind(body: dict[str, Any], field: str, kind: str) -> None:
    body["spec"][field] = [each for each in body["spec"][field] if each["kind"] != kind]


@pytest.mark.parametrize(
    ("project", "field", "kind"),
    [
        ("appproject-prod-east-team-nlp", "namespaceResourceWhitelist", "LocalQueue"),
        ("appproject-prod-east-team-nlp", "clusterResourceWhitelist", "Namespace"),
        ("appproject-prod-east-platform", "namespaceResourceWhitelist", "ConfigMap"),
        ("appproject-prod-east-platform", "clusterResourceWhitelist", "ClusterQueue"),
        ("appproject-prod-east-argocd", "namespaceResourceWhitelist", "AppProject"),
        ("appproject-prod-east-argocd", "clusterResourceWhitelist", "ClusterRole"),
    ],
)
def test_unlisted_kind_is_found(project: str, field: str, kind: str) -> None:
    """A kind that its unit's AppProject does not list is a finding at each object of the kind."""
    found = list(
        check_references(
            SITE, changed(position(f"{project}.yaml"), lambda body: _drop_kind(body, field, kind))
        )
    )
    assert {each.rule for each in found} == {"delivery/kind-not-permitted"}
    assert all(f"{kind} `" in each.message for each in found)


@pytest.mark.parametrize(
    ("kind", "name", "namespace", "rule"),
    [
        ("Pod", "extra", "team-nlp", "delivery/kind-not-permitted"),
        ("LimitRange", "extra", "team-vision", "delivery/namespace-not-permitted"),
        ("Namespace", "team-other", "", "delivery/kind-not-permitted"),
        ("PersistentVolume", "extra", "", "delivery/kind-not-permitted"),
    ],
)
def test_component_stays_inside_its_team(kind: str, name: str, namespace: str, rule: str) -> None:
    """A hand-written object is judged by the project of the team that lists it, and found at the
    component."""
    found = list(check_references(SITE, _component(kind, name, namespace)))
    assert [(each.rule, each.at) for each in found] == [(rule, AT)]


def test_whitelisted_name_binds() -> None:
    """A cluster-wide kind that is listed with a name is permitted under this name only."""
    at = position("appproject-prod-east-team-vision.yaml")
    path = ("spec", "clusterResourceWhitelist", 0, "name")
    assert rules(changed(at, lambda body: put(body, path, lambda _: "team-visio"))) == {
        "delivery/kind-not-permitted"
    }


def test_each_team_folder_needs_its_own_project() -> None:
    """The ApplicationSet's template is read with each team's name filled in."""
    at = position("appproject-prod-east-team-vision.yaml")
    (message,) = messages([*MANIFESTS[:at], *MANIFESTS[at + 1 :]])
    assert message.startswith(
        "argocd/applicationset-prod-east-teams.yaml: spec.template.spec.project names AppProject"
    )
    assert "`prod-east-team-vision` in namespace `openshift-gitops`" in message


def test_folder_that_no_glob_takes_is_not_delivered_by_it() -> None:
    """A glob's star stays below one folder, as in Argo CD."""
    at = position("applicationset-prod-east-teams.yaml")
    path = ("spec", "generators", 0, "git", "directories", 0, "path")
    project = position("appproject-prod-east-team-vision.yaml")
    manifests = changed(at, lambda body: put(body, path, lambda _: "overlays/*"))
    assert rules([*manifests[:project], *manifests[project + 1 :]]) == set()
