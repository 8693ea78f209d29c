"""What follows for a release from its schemas and versions."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.derivation.features import contradictions, derivable, follow, queue_limits
from trainyard.model.release import Schemas
from trainyard.model.version import numbers
from trainyard.profiles.read import behaviour, releases
from trainyard.schema.manifests import effective

TABLE = behaviour().value
RELEASES = sorted(releases())


def schemas_of(release: str) -> dict[str, bytes]:
    every = effective(Schemas(release)).items()
    return {path.removeprefix("schemas/"): content for path, content in every}


def with_versions(release: str, **versions: str) -> dict[str, Any]:
    fields = dict(releases()[release].value)
    return {**fields, "versions": {**fields["versions"], **versions}}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("base", RELEASES)
def test_shipped_releases_follow_from_their_schemas_and_versions(release: str, base: str) -> None:
    """A developer wrote them; the table gives the same, whatever release it begins from."""
    stated = releases()[release].value
    if ("openshift" in stated["versions"]) != ("openshift" in releases()[base].value["versions"]):
        return
    fields = with_versions(base, **stated["versions"])
    followed = follow(TABLE, fields, schemas_of(release))
    others = set(releases()[base].value["features"]) - derivable(TABLE)
    wanted = set(stated["features"]) & derivable(TABLE)
    assert set(followed.fields["features"]) == others | wanted
    assert followed.fields["groupsPodsets"] == stated["groupsPodsets"]
    assert followed.fields["sdk"] == stated["sdk"]
    assert followed.remarks == ()


@pytest.mark.parametrize("release", RELEASES)
def test_no_shipped_release_is_contradicted(release: str) -> None:
    versions = releases()[release].value["versions"]
    assert list(contradictions(TABLE, versions, schemas_of(release))) == []


@pytest.mark.parametrize(
    ("component", "version", "message"),
    [
        ("trainer", "2.1.0", "has `spec.runtimePatches`"),
        ("kueue", "0.17.0", "has `spec.concurrentAdmissionPolicy`"),
        ("argocd", "3.2.1", "has `spec.clusterResourceWhitelist[].name`"),
        ("sriovNetworkOperator", "1.4.0", "has `spec.rdmaMode`"),
    ],
)
def test_schema_that_is_newer_than_its_version(component: str, version: str, message: str) -> None:
    versions = {**releases()["kubernetes-1.36"].value["versions"], component: version}
    (found, *_) = contradictions(TABLE, versions, schemas_of("kubernetes-1.36"))
    assert message in found
    assert f"the release says {component} {version}" in found


def test_schema_that_is_inherited_contradicts_nothing() -> None:
    assert list(contradictions(TABLE, {"trainer": "2.1"}, {})) == []


def test_newer_version_gets_the_safe_value_and_a_remark() -> None:
    """Nobody looked at it: its jobs are not said to return, and are not grouped."""
    fields = with_versions("kubernetes-1.36", kueue="0.21.0")
    followed = follow(TABLE, fields, schemas_of("kubernetes-1.36"))
    assert not {"steps-return", "device-claims"} & set(followed.fields["features"])
    assert followed.fields["groupsPodsets"] is False
    assert "runtime-patches" in followed.fields["features"]
    (remark,) = followed.remarks
    assert remark.startswith("kueue 0.21.0 is newer than 0.19")


@pytest.mark.parametrize(
    ("version", "claims"), [("0.18.1", False), ("0.18.2", True), ("0.18", True)]
)
def test_patch_decides_where_it_is_stated(version: str, claims: bool) -> None:
    fields = with_versions("kubernetes-1.35", kueue=version)
    followed = follow(TABLE, fields, schemas_of("kubernetes-1.35"))
    assert ("device-claims" in followed.fields["features"]) is claims


def test_limits_need_both_queues() -> None:
    assert queue_limits({}) == {}


def test_table_is_of_components_and_versions_that_exist() -> None:
    known = set(releases()["kubernetes-1.36"].value["versions"])
    rows = [*TABLE["fields"], *({"component": each} for each in TABLE["modules"])]
    assert {row["component"] for row in rows} <= known
    for row in TABLE["behaviour"]:
        assert row["versions"].keys() <= releases()["kubernetes-1.36"].value["changes"].keys()
        assert row["evidence"]
    assert [*TABLE["sdk"]] == sorted(TABLE["sdk"], key=numbers)
