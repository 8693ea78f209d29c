"""Objects that a hand-written component may contain."""

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
UNLISTED = "delivery/unlisted-component"
REFUSED = "delivery/component-object-refused"
COMPONENT_RULES = {FORBIDDEN, FOREIGN, KEY, VERSION, UNLISTED}


def of_kind(api_version: str, kind: str, **metadata: Any) -> dict[str, Any]:
    return {**config_map(**metadata), "apiVersion": api_version, "kind": kind}


@pytest.mark.parametrize(
    ("api_version", "kind", "reason"),
    [
        ("v1", "Secret", "secrets must not be in Git, encoded or not"),
        ("v1", "List", "a list can contain objects of any kind"),
        (
            "rbac.authorization.k8s.io/v1",
            "RoleBindingList",
            "a list can contain objects of any kind",
        ),
        ("batch/v1", "Job", "jobs are submitted, not synced"),
        (
            "kueue.x-k8s.io/v1beta2",
            "ClusterQueue",
            "it is cluster-scoped, even if it has a namespace",
        ),
        ("kueue.x-k8s.io/v1beta2", "LocalQueue", "isolation objects are generated from profiles"),
        (
            "argoproj.io/v1alpha1",
            "Application",
            "Argo CD would deliver everything that it names, to any place",
        ),
        (
            "sriovnetwork.openshift.io/v1",
            "SriovNetwork",
            "it can use any partition, VLAN or address",
        ),
        ("v1", "Service", "a component may contain ConfigMaps and ExternalSecrets"),
        (
            "configs.example.com/v1",
            "ConfigMap",
            "a component may contain ConfigMaps and ExternalSecrets",
        ),
        (
            "external-secrets.io/v1",
            "ConfigMap",
            "a component may contain ConfigMaps and ExternalSecrets",
        ),
    ],
)
def test_component_contains_only_kinds_that_the_release_permits(
    api_version: str, kind: str, reason: str
) -> None:
    """Group and kind decide, and a forbidden object has one finding, whatever its metadata."""
    for metadata in ({}, {"namespace": "elsewhere"}, {"finalizers": ["x"]}):
        changes = component(of_kind(api_version, kind, **metadata), "nlp")

        assert messages(FORBIDDEN, changes) == [f"{kind} `it` in a.yaml: {reason}"]
        assert broken(changes) & COMPONENT_RULES == {FORBIDDEN}


@pytest.mark.parametrize("release", ["kubernetes-1.36", "openshift-ai-3.5"])
def test_release_has_a_schema_of_each_kind_that_it_permits(release: str) -> None:
    """Without a schema the object would be refused when the tree is generated."""
    (site,) = platform_of({CLUSTER: {"release": release, "workspaces": None}}).sites
    kinds = site.cluster.release.component_kinds
    for kind, api_version in kinds.items():
        group, _, version = api_version.rpartition("/")

        folder = Path(schema_folder(release), group or version)
        assert (folder / f"{kind.lower()}_{version}.json").is_file()


def test_component_belongs_to_one_team() -> None:
    """If two teams list it, its objects are in the wrong namespace for one of them."""
    assert messages(FOREIGN, component(config_map(), "nlp", "vision")) == [
        "ConfigMap `it` in a.yaml is in namespace `team-nlp`; team vision has `team-vision`"
    ]


@pytest.mark.parametrize("namespace", [None, ""])
def test_object_of_a_component_needs_a_namespace(namespace: str | None) -> None:
    """Without one, Argo CD would use the namespace of the application."""
    assert messages(FOREIGN, component(config_map(namespace=namespace), "nlp")) == [
        "ConfigMap `it` in a.yaml has no namespace; team nlp has `team-nlp`"
    ]


def test_object_of_a_component_may_be_in_any_namespace_of_the_team() -> None:
    """A message about a wrong namespace lists all of them."""
    spaces: dict[str, Any] = {"spaces": {"interactive": {}}}
    changes = component(config_map(namespace="team-nlp-interactive"), "nlp")
    changes["teams/nlp.yaml"] |= spaces
    assert messages(FOREIGN, changes) == []

    changes = component(config_map(namespace="team-nlp-batch"), "nlp")
    changes["teams/nlp.yaml"] |= spaces
    (message,) = messages(FOREIGN, changes)
    assert message == (
        "ConfigMap `it` in a.yaml is in namespace `team-nlp-batch`; team nlp has `team-nlp`, "
        "`team-nlp-interactive`"
    )


def test_mistake_on_two_clusters_is_reported_once() -> None:
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

    sites = platform_of(changes).sites
    assert len(sites) == 2
    assert all("nlp" in {tenant.name for tenant in site.tenants} for site in sites)
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
def test_key_of_a_foreign_domain_is_refused(field: str, key: str) -> None:
    """Keys of controllers, keys that only look so, and domains with a similar end."""
    assert messages(KEY, component(config_map(**{field: {key: "x"}}), "nlp")) == [
        f"ConfigMap `it` in a.yaml has the {field.removesuffix('s')} `{key}`"
    ]


@pytest.mark.parametrize(
    "key", [*sorted(KEYS), "ml.example.com/owner", "deep.below.ml.example.com/owner"]
)
def test_descriptive_key_is_permitted(key: str) -> None:
    """Names, descriptions, and all keys below the `domain` of the settings."""
    changes = component(config_map(annotations={key: "x"}, labels={key: "x"}), "nlp")

    assert not broken(changes) & COMPONENT_RULES


@pytest.mark.parametrize(
    "field", ["finalizers", "generateName", "managedFields", "ownerReferences", "resourceVersion"]
)
def test_other_metadata_is_refused(field: str) -> None:
    """For example, a finalizer that is never removed blocks the team's sync unit permanently."""
    assert messages(KEY, component(config_map(**{field: []}), "nlp")) == [
        f"ConfigMap `it` in a.yaml has `{field}`"
    ]


def test_metadata_of_a_wrong_type_is_ignored() -> None:
    """The schema reports it."""
    changes = component(config_map(annotations=None, labels=["x"]), "nlp")

    assert not broken(changes) & COMPONENT_RULES


@pytest.mark.parametrize("version", ["v1alpha1", "v1beta1", "v2"])
def test_other_version_is_reported_with_the_served_one(version: str) -> None:
    """For example, a removed version, and one that does not exist yet."""
    api_version = f"external-secrets.io/{version}"
    body = external_secret(data=[]) | {"apiVersion": api_version}

    assert messages(VERSION, component(body, "nlp")) == [
        (
            f"ExternalSecret `it` in a.yaml is {api_version}; openshift-ai-3.5 serves "
            "external-secrets.io/v1"
        )
    ]


def test_objects_of_an_unlisted_component_are_not_checked() -> None:
    """The component is not delivered, so its only finding is that no team lists it."""
    changes = component(of_kind("rbac.authorization.k8s.io/v1", "Role"))

    assert broken(changes) & COMPONENT_RULES == {UNLISTED}


def test_component_of_a_retired_team_is_listed() -> None:
    """The tombstone keeps it in case the team returns."""
    changes = component(config_map(), "nlp")
    changes["teams/nlp.yaml"] |= {"state": "retired"}

    assert messages(UNLISTED, changes) == []


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("nightly-mpi-hostfile", "Trainer"),
        ("ds-pipeline-server-config-dspa", "OpenShift AI's pipelines"),
        ("kube-root-ca.crt", "Kubernetes"),
        ("openshift-service-ca.crt", "OpenShift"),
        ("odh-trusted-ca-bundle", "OpenShift AI"),
        ("own-kube-root-ca.crt", ""),
        ("mpi-hostfiles", ""),
        ("nightly-config", ""),
    ],
)
def test_name_of_a_controllers_config_map_is_refused(name: str, owner: str) -> None:
    """On the cluster such a ConfigMap would be refused or overwritten."""
    found = messages("delivery/name-of-a-controller", component(config_map(name=name), "nlp"))

    assert found == (
        [f"ConfigMap `{name}` in a.yaml has a name that only {owner} may use"] if owner else []
    )


@pytest.mark.parametrize(
    "name", ["Cc", "..", ".", "-a", "a-", "a_b", "a..b", "a/b", "\u0430", "a\n", "a" * 254]
)
def test_name_that_no_object_has_is_refused(name: str) -> None:
    (found,) = messages(REFUSED, component(config_map(name=name), "nlp"))
    assert found.endswith("in a.yaml has a name that no object can have")


@pytest.mark.parametrize("name", ["a", "a.b", "a-b", "0", "a" * 253, "a.0-b"])
def test_name_that_an_object_can_have_is_accepted(name: str) -> None:
    assert messages(REFUSED, component(config_map(name=name), "nlp")) == []


@pytest.mark.parametrize("field", ["data", "binaryData"])
@pytest.mark.parametrize("key", [".", "..", "..a", "a b", "a/b", "\u00e4", "a\n", "a" * 254])
def test_key_that_no_file_has_is_refused(field: str, key: str) -> None:
    (found,) = messages(REFUSED, component({**config_map(), field: {key: "eA=="}}, "nlp"))
    assert f"has the key `{key}` in {field}, which no file can have" in found


@pytest.mark.parametrize("key", ["a", ".a", "a..b", "-", "_A.b-c", "a" * 253])
def test_key_that_a_file_can_have_is_accepted(key: str) -> None:
    assert messages(REFUSED, component({**config_map(), "data": {key: "x"}}, "nlp")) == []
