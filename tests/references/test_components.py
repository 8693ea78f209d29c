"""What hand-written components name and define, against the rest of the tree."""

from __future__ import annotations

from typing import Any

import pytest

from tests.references.trees import flagship, messages
from trainyard.diagnostics import Pointer
from trainyard.model.manifest import Manifest

PATH = "teams/science/extra/it.yaml"


def added(kind: str, spec: dict[str, Any], name: str = "it") -> list[str]:
    """Return the messages about a component's object beside the flagship's own."""
    version = "external-secrets.io/v1" if kind == "ExternalSecret" else "v1"
    body = {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "team-science"},
        "spec": spec,
    }
    manifest = Manifest(PATH, body, (), Pointer("profiles/components/extra/kustomization.yaml"))
    return messages([*flagship()[1], manifest])


@pytest.mark.parametrize(
    ("field", "place"),
    [("data", "spec.data[0]"), ("dataFrom", "spec.dataFrom[0]")],
    ids=["data", "dataFrom"],
)
@pytest.mark.parametrize(
    ("kind", "reported"),
    [
        ("ClusterSecretStore", "ClusterSecretStore `nowhere`"),
        (None, "SecretStore `nowhere` in namespace"),
    ],
    ids=["cluster", "own"],
)
def test_store_of_a_single_entry_has_a_target(
    field: str, place: str, kind: str | None, reported: str
) -> None:
    """Each entry of an ExternalSecret may name a store of its own."""
    store = {"name": "nowhere"} | ({"kind": kind} if kind else {})
    (found,) = added("ExternalSecret", {field: [{"sourceRef": {"storeRef": store}}]})

    assert f"{place}.sourceRef.storeRef.name names {reported}" in found


def test_known_store_is_found() -> None:
    """The cluster declares it with its owner."""
    store = {"kind": "ClusterSecretStore", "name": "vault"}

    assert added("ExternalSecret", {"data": [{"sourceRef": {"storeRef": store}}]}) == []


@pytest.mark.parametrize(
    "spec", [{"target": {"name": "registry-pull"}}, {"target": {"creationPolicy": "Merge"}}]
)
def test_secret_is_made_once(spec: dict[str, Any]) -> None:
    """Two ExternalSecrets with one Secret, named or by their own name, are two writers."""
    name = "another" if "name" in spec["target"] else "registry-pull"
    found = added("ExternalSecret", spec, name)

    assert (
        f"{PATH}: Secret `registry-pull` in namespace `team-science` is defined in"
        " teams/science/externalsecret-registry-pull.yaml too"
    ) in found


@pytest.mark.parametrize(
    ("name", "owner"),
    [("kube-root-ca.crt", "Kubernetes"), ("openshift-service-ca.crt", "OpenShift")],
)
def test_config_map_of_every_namespace_is_not_redefined(name: str, owner: str) -> None:
    """Its controller would fight Argo CD over it."""
    assert added("ConfigMap", {}, name) == [f"{PATH}: {owner} makes a ConfigMap `{name}` itself"]
    assert added("ConfigMap", {}, "solver") == []
