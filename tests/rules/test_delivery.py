"""What a hand-written component may hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.rules.cases import broken, messages, platform_of
from tests.rules.components import component, config_map, external_secret
from tests.rules.test_clusters import WEST, west
from trainyard.rules.delivery.foreign_metadata_key import KEYS
from trainyard.schema.manifests import schema_folder

CLUSTER = "clusters/prod-east.yaml"
FORBIDDEN, FOREIGN = (
    "delivery/component-of-forbidden-kind",
    "delivery/component-in-foreign-namespace",
)
KEY, VERSION = "delivery/foreign-metadata-key", "release/unserved-version"


def of_kind(api_version: str, kind: str, **metadata: Any) -> dict[str, Any]:
    return {**config_map(**metadata), "apiVersion": api_version, "kind": kind}


@pytest.mark.parametrize(
    ("api_version", "kind", "reason"),
    [
        ("v1", "Secret", "Git is no place for secrets, encoded or not"),
        ("v1", "List", "in a list could stand anything"),
        ("rbac.authorization.k8s.io/v1", "RoleBindingList", "in a list could stand anything"),
        ("batch/v1", "Job", "jobs are submitted, not synced"),
        (
            "kueue.x-k8s.io/v1beta2",
            "ClusterQueue",
            "it is cluster-wide, whatever namespace it says",
        ),
        ("kueue.x-k8s.io/v1beta2", "LocalQueue", "isolation is made of it"),
        (
            "argoproj.io/v1alpha1",
            "Application",
            "Argo CD would deliver whatever it names, where it says",
        ),
        (
            "sriovnetwork.openshift.io/v1",
            "SriovNetwork",
            "it chooses any partition, VLAN or address",
        ),
        ("v1", "Service", "a component may hold ConfigMaps and ExternalSecrets"),
        (
            "configs.example.com/v1",
            "ConfigMap",
            "a component may hold ConfigMaps and ExternalSecrets",
        ),
        (
            "external-secrets.io/v1",
            "ConfigMap",
            "a component may hold ConfigMaps and ExternalSecrets",
        ),
    ],
)
def test_component_holds_only_what_the_release_lists(
    api_version: str, kind: str, reason: str
) -> None:
    """Group and kind count, and one mistake is one finding, wherever the object says that it
    stands."""
    for metadata in ({}, {"namespace": "elsewhere"}, {"finalizers": ["x"]}):
        changes = component(of_kind(api_version, kind, **metadata), "nlp")

        assert messages(FORBIDDEN, changes) == [f"{kind} `it` in a.yaml: {reason}"]
        assert broken(changes) == {FORBIDDEN}


@pytest.mark.parametrize("release", ["kubernetes-1.36", "openshift-ai-3.5"])
def test_releases_have_a_schema_of_what_a_component_may_hold(release: str) -> None:
    """What is permitted without one would be refused all the same, and only when the tree is
    made."""
    kinds = (
        platform_of({CLUSTER: {"release": release, "workspaces": None}})
        .sites[0]
        .cluster.release.component_kinds
    )
    for kind, api_version in kinds.items():
        group, _, version = api_version.rpartition("/")

        assert Path(
            schema_folder(release), group or version, f"{kind.lower()}_{version}.json"
        ).is_file()


def test_component_belongs_to_one_team() -> None:
    """Listed by two teams, its objects stand in the wrong namespace for one of them."""
    assert messages(FOREIGN, component(config_map(), "nlp", "vision")) == [
        "ConfigMap `it` in a.yaml stands in `team-nlp`; team vision has `team-vision`"
    ]


@pytest.mark.parametrize("namespace", [None, ""])
def test_object_of_a_component_says_its_namespace(namespace: str | None) -> None:
    """Argo CD would put it wherever the application points."""
    assert messages(FOREIGN, component(config_map(namespace=namespace), "nlp")) == [
        "ConfigMap `it` in a.yaml says no namespace; team nlp has `team-nlp`"
    ]


def test_object_of_a_component_may_stand_in_any_space_of_the_team() -> None:
    """The further namespaces are the team's as well, and a wrong one is told of all of them."""
    spaces: dict[str, Any] = {"spaces": {"interactive": {}}}
    changes = component(config_map(namespace="team-nlp-interactive"), "nlp")
    changes["teams/nlp.yaml"] |= spaces
    assert messages(FOREIGN, changes) == []

    changes = component(config_map(namespace="team-nlp-batch"), "nlp")
    changes["teams/nlp.yaml"] |= spaces
    assert messages(FOREIGN, changes) == [
        (
            "ConfigMap `it` in a.yaml stands in `team-nlp-batch`; team nlp has `team-nlp`, "
            "`team-nlp-interactive`"
        )
    ]


def test_mistake_on_two_clusters_is_told_once() -> None:
    """It is one line in one file."""
    changes = component(config_map(finalizers=["x"]), "nlp") | west()
    changes[WEST] |= {
        "cohorts": {"research": {}},
        "pullSecrets": {"registry-pull": {"secretStore": "vault", "path": "ml/registry"}},
    }
    changes["teams/nlp.yaml"] |= {
        "quota": {"prod-west": {"dgx-h100": {"nodes": 4}}},
        "storage": None,
    }

    assert {
        site.name
        for site in platform_of(changes).sites
        for each in site.tenants
        if each.name == "nlp"
    } == {
        "prod-east",
        "prod-west",
    }
    assert len(messages(KEY, changes)) == 1


@pytest.mark.parametrize("field", ["annotations", "labels"])
@pytest.mark.parametrize(
    "key",
    [
        "argocd.argoproj.io/hook",
        "argocd.argoproj.io/sync-wave",
        "kueue.x-k8s.io/queue-name",
        "opendatahub.io/managed",
        "compliance",
        "ml.example.com",
        "evil-ml.example.com/x",
        "ml.example.com.evil/x",
    ],
)
def test_key_of_others_is_refused(field: str, key: str) -> None:
    """What steers a controller, and what only looks as if it did; a domain that ends alike is
    another."""
    assert messages(KEY, component(config_map(**{field: {key: "x"}}), "nlp")) == [
        f"ConfigMap `it` in a.yaml has the {field.removesuffix('s')} `{key}`"
    ]


@pytest.mark.parametrize(
    "key", [*sorted(KEYS), "ml.example.com/owner", "deep.below.ml.example.com/owner"]
)
def test_key_for_people_is_permitted(key: str) -> None:
    """Names, descriptions and whatever stands below the settings' own domain."""
    assert broken(component(config_map(annotations={key: "x"}, labels={key: "x"}), "nlp")) == set()


@pytest.mark.parametrize(
    "field", ["finalizers", "generateName", "managedFields", "ownerReferences", "resourceVersion"]
)
def test_rest_of_the_metadata_is_refused(field: str) -> None:
    """A finalizer that nobody takes away keeps the object, and with it the team's unit, for
    ever."""
    assert messages(KEY, component(config_map(**{field: []}), "nlp")) == [
        f"ConfigMap `it` in a.yaml has `{field}`"
    ]


def test_metadata_of_another_shape_is_left_to_the_schema() -> None:
    """The rule must not fall over it."""
    assert broken(component(config_map(annotations=None, labels=["x"]), "nlp")) == set()


@pytest.mark.parametrize("version", ["v1alpha1", "v1beta1", "v2"])
def test_other_version_is_told_with_the_served_one(version: str) -> None:
    """A version that went, and one that is not there yet."""
    api_version = f"external-secrets.io/{version}"
    body = external_secret(data=[]) | {"apiVersion": api_version}

    assert messages(VERSION, component(body, "nlp")) == [
        (
            f"ExternalSecret `it` in a.yaml is {api_version}; openshift-ai-3.5 serves "
            "external-secrets.io/v1"
        )
    ]


def test_component_that_nobody_lists_is_nobodys() -> None:
    """It is not delivered, so that only this is said of it."""
    assert broken(component(of_kind("rbac.authorization.k8s.io/v1", "Role"))) == {
        "delivery/unlisted-component"
    }


def test_component_of_a_retired_team_is_listed() -> None:
    """Its tombstone keeps it, for whoever brings the team back."""
    changes = component(config_map(), "nlp")
    changes["teams/nlp.yaml"] |= {"state": "retired"}

    assert messages("delivery/unlisted-component", changes) == []


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("nightly-mpi-hostfile", "Trainer"),
        ("nightly-runtime-snapshot", "Trainer"),
        ("kube-root-ca.crt", "Kubernetes"),
        ("openshift-service-ca.crt", "OpenShift"),
        ("own-kube-root-ca.crt", ""),
        ("runtime-snapshots", ""),
    ],
)
def test_names_of_controllers_are_theirs(name: str, owner: str) -> None:
    """A ConfigMap with one of them is refused on the cluster, or overwritten."""
    found = messages("delivery/name-of-a-controller", component(config_map(name=name), "nlp"))

    assert found == (
        [f"ConfigMap `{name}` in a.yaml has a name that only {owner} may use"] if owner else []
    )
