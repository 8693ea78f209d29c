"""The way of a cluster from one release to another."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import permutations

import pytest

from tests.conftest import REPOSITORY
from trainyard.change.meanwhile import with_objects
from trainyard.change.objects import Sides
from trainyard.change.releases import faults_of
from trainyard.change.upgrade import ReleaseChange, release_changes
from trainyard.generation.generate import check, generate
from trainyard.model.identity import identity
from trainyard.model.platform import Platform
from trainyard.model.release import Release, Threshold
from trainyard.profiles.read import load, releases
from trainyard.resolve.platform import known_releases

RELEASES = sorted(releases())


@cache
def platform() -> Platform:
    found = check(REPOSITORY / "profiles").platform
    assert found
    return found


@cache
def release(name: str) -> Release:
    found = known_releases(load(REPOSITORY / "profiles")[0]).known[name]
    assert found
    return found


def on(name: str, **installed: str) -> Platform:
    """This repository's cluster `lab` on a release."""
    pinned = release(name)
    site = next(site for site in platform().sites if site.name == "lab")
    cluster = replace(site.cluster, release=pinned, versions={**pinned.versions, **installed})
    return replace(platform(), sites=(replace(site, cluster=cluster),))


def way(before: Platform, after: Platform) -> ReleaseChange:
    (change,) = release_changes(before, after, ())
    return change


def steps(change: ReleaseChange) -> list[list[str]]:
    return [[part.by for part in step] for step in change.steps]


@pytest.mark.parametrize(("before", "after"), list(permutations(RELEASES, 2)))
def test_nothing_new_is_known_to_fail_after_any_step(before: str, after: str) -> None:
    old, new = on(before), on(after)
    versions, merged = dict(release(before).versions), False
    for step in way(old, new).steps:
        for part in step:
            merged = merged or part.is_tree
            for change in part.versions:
                assert versions.pop(change.name, None) == change.before
                versions |= {change.name: change.after} if change.after else {}
        assert faults_of(release(after if merged else before), versions) == ()
    assert merged
    assert versions == dict(release(after).versions)


def test_bad_pairs_are_one_window_and_the_rest_goes_alone() -> None:
    change = way(on("kubernetes-1.34"), on("kubernetes-1.36"))

    assert steps(change) == [["owner of the API server"], ["JobSet"], ["Kueue", "Trainer", ""]]
    assert all(part.alone for part in change.steps[2])
    assert not any(part.alone for step in change.steps[:2] for part in step)
    assert "spec.podTemplateOverrides" in change.jobs_lose
    assert change.sdk
    assert (change.sdk.before, change.sdk.after) == ("0.3.1", "0.5.0")
    assert change.replaced == ()


def test_upgrade_within_the_pair_needs_no_window() -> None:
    change = way(on("kubernetes-1.35"), on("kubernetes-1.36"))

    assert steps(change) == [["owner of the API server"], ["Kueue"], ["Trainer"], [""]]
    assert change.jobs_lose == ()


def test_on_the_way_back_the_tree_goes_first() -> None:
    """Older servers do not know the fields of a newer tree."""
    assert steps(way(on("openshift-ai-3.5"), on("openshift-ai-3.4")))[0] == [""]
    assert steps(way(on("openshift-ai-3.4"), on("openshift-ai-3.5")))[-1] == [""]


def test_what_one_operator_brings_is_one_part() -> None:
    (first, _) = way(on("openshift-ai-3.4"), on("openshift-ai-3.5")).steps
    (part,) = first

    assert part.by == "OpenShift GitOps operator"
    assert {change.name for change in part.versions} == {"argocd", "gitopsOperator"}


def test_installed_version_is_where_the_way_begins() -> None:
    """Another fault of before is not a reason for a window."""
    change = way(on("kubernetes-1.34", kueue="0.19"), on("kubernetes-1.35"))
    (kueue,) = [part for step in change.steps for part in step if part.by == "Kueue"]

    assert [(each.before, each.after) for each in kueue.versions] == [("0.19", "0.18")]


def test_other_operators_are_no_upgrade() -> None:
    assert "kueue" in way(on("openshift-ai-3.5"), on("kubernetes-1.36")).replaced


def test_same_release_has_no_way() -> None:
    assert list(release_changes(on("kubernetes-1.34"), on("kubernetes-1.34"), ())) == []
    before, after = on("kubernetes-1.34"), on("kubernetes-1.36")
    assert list(release_changes(before, after, ("prod-east",))) == []
    assert list(release_changes(None, after, ())) == []


@pytest.mark.parametrize(
    ("start", "before", "after", "one_way"),
    [
        ("", "1.34", "1.36", True),
        ("", "1.36", "1.34", False),
        ("0.16", "0.15", "0.18", True),
        ("0.16", "0.16", "0.18", False),
        ("0.16", "0.18", "0.15", False),
    ],
)
def test_way_of_no_return(start: str, before: str, after: str, one_way: bool) -> None:
    assert Threshold("one-way", "kueue", "because", start).applies(before, after) is one_way


def test_point_of_no_return_is_at_its_part() -> None:
    (first, *others) = way(on("kubernetes-1.34"), on("kubernetes-1.36")).steps

    assert first[0].one_way[0].startswith("kubernetes: one minor version after the other")
    assert not any(part.one_way for step in others for part in step)


def test_api_server_does_not_go_back() -> None:
    """The way back of an upgrade without one is not a step that somebody can take."""
    steps = way(on("kubernetes-1.36"), on("kubernetes-1.34")).steps
    parts = {part.by: part for step in steps for part in step}
    found = {by for by, part in parts.items() if part.impossible}

    assert found == {"owner of the API server"}
    assert not any(part.one_way for part in parts.values())


@pytest.mark.parametrize("rises", [False, True])
def test_dropped_fields_are_named_with_their_objects(rises: bool) -> None:
    """Servers of the other release meet the tree that is there meanwhile: the old, or the new."""
    generation = generate(REPOSITORY / "profiles", "../profiles/components", ("lab",))
    objects = {}
    for manifest in generation.manifests["lab"]:
        extra = {"new": 1} if manifest.kind.name == "Topology" else {}
        objects[identity(manifest)] = replace(manifest, body={**manifest.body, **extra})
    versions = ("kubernetes-1.35", "kubernetes-1.36")
    old, new = map(on, versions if rises else reversed(versions))
    before, after = (objects, {}) if rises else ({}, objects)

    change = with_objects(way(old, new), Sides("lab", old.sites[0], new.sites[0], before, after))

    (dropped,) = change.dropped
    assert {each.kind for each in dropped.objects} == {"Topology"}
    assert "new" in dropped.fault


def test_jobs_of_mpi_are_stuck_with_trainer_2_3() -> None:
    """A rehearsal showed it; without a team that may run such jobs nothing is drained."""
    before, after = on("kubernetes-1.35"), on("kubernetes-1.36")
    change = way(before, after)
    assert change.jobs_lose == ()
    assert change.stuck[0].startswith("Trainer 2.3 writes file modes into the volume of keys")
    assert change.drains
    (site,) = before.sites
    without = replace(before, sites=(replace(site, tenants=()),))
    assert way(without, after).stuck == ()
    assert way(after, after_of(after)).stuck == ()


def after_of(platform: Platform) -> Platform:
    """The same cluster with another JobSet: Trainer stays."""
    (site,) = platform.sites
    pinned = site.cluster.release
    versions = {**pinned.versions, "jobset": "0.13"}
    changed = replace(pinned, name="next", versions=versions)
    cluster = replace(site.cluster, release=changed, versions=versions)
    return replace(platform, sites=(replace(site, cluster=cluster),))
