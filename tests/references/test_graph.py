from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.references.trees import changed, flagship, messages, position, put, rules
from trainyard import references
from trainyard.diagnostics import Step
from trainyard.model.manifest import Manifest
from trainyard.references.extract import uses
from trainyard.references.graph import check_references
from trainyard.references.names import Scope, Use
from trainyard.rulebook import rules_found_by

pytestmark = pytest.mark.thorough

SITE, MANIFESTS = flagship()

NAMED = {
    "AppProject",
    "ClusterQueue",
    "ClusterRole",
    "ClusterTrainingRuntime",
    "Cohort",
    "ConfigMap",
    "ExternalSecret",
    "LocalQueue",
    "MachineConfigPool",
    "Namespace",
    "NetworkAttachmentDefinition",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "ResourceFlavor",
    "ServiceAccount",
    "SriovNetworkNodePolicy",
    "Topology",
    "ValidatingAdmissionPolicy",
    "WorkloadPriorityClass",
}
"""Kinds whose objects are named by others, and so are missed when they go."""
UNNAMED_OBJECTS = {
    "simulation-defaults",
    *(f"trainyard-dashboard-{each}" for each in ("job", "platform", "team")),
}


def _all_uses() -> list[tuple[int, Use]]:
    scopes = [Scope(manifest.namespace, "openshift.io") for manifest in MANIFESTS]
    return [(i, use) for i, each in enumerate(MANIFESTS) for use in uses(each.body, scopes[i])]


def test_generated_tree_is_closed() -> None:
    """The flagship's own tree names nothing that is not there."""
    assert list(check_references(SITE, MANIFESTS)) == []


@pytest.mark.parametrize("at", range(len(MANIFESTS)), ids=lambda at: MANIFESTS[at].path)
def test_dropped_object_is_missed(at: int) -> None:
    """A finding follows exactly when another object names the dropped one."""
    dropped = MANIFESTS[at]
    named = dropped.kind.name in NAMED and dropped.name not in UNNAMED_OBJECTS
    assert bool(rules([*MANIFESTS[:at], *MANIFESTS[at + 1 :]])) is named


@given(st.sampled_from(_all_uses()))
def test_renamed_reference_is_found(place: tuple[int, Use]) -> None:
    """The finding is at the place of the reference."""
    at, use = place

    def rename(body: dict[str, Any]) -> None:
        parent: Any = body
        for step in use.path[:-1]:
            parent = parent[step]
        if use.path[-1] == use.name:  # a device: the key itself is the name
            parent[f"{use.name}_x"] = parent.pop(use.name)
        else:
            old = parent[use.path[-1]]
            parent[use.path[-1]] = (
                old.replace(use.name, f"{use.name}-x") if use.name in old else f"{old}-x"
            )

    found = messages(changed(at, rename))
    assert any(MANIFESTS[at].display in message for message in found)


def _paths(value: Any, path: tuple[Step, ...] = ()) -> Iterator[tuple[Step, ...]]:
    members = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for step, member in members:
        yield (*path, step)
        yield from _paths(member, (*path, step))


@given(
    st.data(),
    st.integers(0, len(MANIFESTS) - 1),
    st.sampled_from([None, 7, "x", [], ["x", None], {}, {"x": []}]),
)
def test_odd_shapes_are_no_bug(data: st.DataObject, at: int, value: object) -> None:
    """A component may hold any shape; the schemas report it."""
    identity = {(), ("apiVersion",), ("kind",), ("metadata",), ("metadata", "name")}
    paths = [path for path in _paths(MANIFESTS[at].body) if path not in identity]
    path = data.draw(st.sampled_from(paths))
    for finding in check_references(
        SITE, changed(at, lambda body: put(body, path, lambda _: value))
    ):
        assert finding.rule in {rule.id for rule in rules_found_by(references)}


def test_undefined_name_is_shown_with_its_place_and_the_nearest_name() -> None:
    """The finding is at the profile, and has the file, the field and the nearest name."""
    at = position("teams/nlp/localqueue-gpu.yaml")
    manifests = changed(at, lambda body: put(body, ("spec", "clusterQueue"), lambda _: "nlp-gpus"))
    finding = next(check_references(SITE, manifests))
    assert finding.at == MANIFESTS[at].at
    assert finding.message == (
        "teams/nlp/localqueue-gpu.yaml: spec.clusterQueue names ClusterQueue `nlp-gpus`, which "
        "nothing defines"
    )
    assert finding.hint == "did you mean `nlp-gpu`?"


def test_runtime_needs_its_names_in_every_namespace_that_lists_it() -> None:
    """A network that one team lacks is a finding for this team and no other."""
    at = position("teams/vision/networkattachmentdefinition-ib-rail-3.yaml")
    found = messages([*MANIFESTS[:at], *MANIFESTS[at + 1 :]])
    assert {message.partition(": ")[0] for message in found} == {
        f"platform/clustertrainingruntime-{name}-dgx-h100.yaml"
        for name in ("horovod-v2", "openmpi-cuda-v2", "openmpi-cuda-v3")
    }
    assert "NetworkAttachmentDefinition `ib-rail-3` in namespace `team-vision`" in found[0]


@pytest.mark.parametrize(
    "name", ["ClusterSecretStore/vault", "StorageClass/cephfs", "Namespace/openshift-dns"]
)
def test_external_name_must_be_declared(name: str) -> None:
    """What others own is defined by its declaration alone."""
    external = {key: owner for key, owner in SITE.cluster.external.items() if key != name}
    site = replace(SITE, cluster=replace(SITE.cluster, external=external))
    found = list(check_references(site, MANIFESTS))
    assert found
    assert all(f"`{name.partition('/')[2]}`" in each.message for each in found)


def test_account_with_an_owner_is_declared_by_the_profile() -> None:
    """An account that others make needs no object, in its own team's namespace only."""
    ours = []
    for tenant in SITE.tenants:
        team = replace(
            tenant.team, accounts=tuple(replace(each, owner="") for each in tenant.team.accounts)
        )
        ours.append(
            replace(tenant, spaces=tuple(replace(space, team=team) for space in tenant.spaces))
        )
    found = {
        each.message for each in check_references(replace(SITE, tenants=tuple(ours)), MANIFESTS)
    }
    assert any("ServiceAccount `workbench` in namespace `team-nlp`" in message for message in found)
    assert any(
        "ServiceAccount `pipeline-runner-dspa` in namespace `team-vision`" in message
        for message in found
    )


def test_adopted_volume_is_declared_by_the_profile() -> None:
    """Without its claim in the profile, the volume behind an adopted claim is unknown."""
    bare = (
        replace(tenant, spaces=tuple(replace(space, claims=()) for space in tenant.spaces))
        for tenant in SITE.tenants
    )
    site = replace(SITE, tenants=tuple(bare))
    assert [each.message.partition(": ")[0] for each in check_references(site, MANIFESTS)] == [
        "teams/vision/persistentvolumeclaim-imagenet.yaml"
    ]


def test_object_defined_twice_is_found_at_the_second() -> None:
    """Two manifests with one identity are a finding that names both files."""
    twin = replace(
        MANIFESTS[position("teams/nlp/localqueue-gpu.yaml")], path="teams/nlp/extra/queue.yaml"
    )
    found = [
        each
        for each in check_references(SITE, [*MANIFESTS, twin])
        if each.rule == "references/defined-twice"
    ]
    assert [each.message for each in found] == [
        (
            f"{twin.path}: LocalQueue `gpu` in namespace `team-nlp` is defined in "
            "teams/nlp/localqueue-gpu.yaml too"
        )
    ]
    assert found[0].notes[0].at == twin.at


def test_same_name_of_another_version_is_the_same_object() -> None:
    """An API version does not make another object, a group does."""
    at = position("teams/nlp/localqueue-gpu.yaml")
    for version, twice in (("kueue.x-k8s.io/v1beta1", True), ("other.example.com/v1", False)):
        body = {**MANIFESTS[at].body, "apiVersion": version}
        twin = Manifest("teams/nlp/extra/queue.yaml", body, (), MANIFESTS[at].at)
        assert ("references/defined-twice" in rules([*MANIFESTS, twin])) is twice
