"""Files that Argo CD does not apply: whose they are, and what `diff` says of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.change.impact.platforms import CLUSTER, own, sides
from tests.conftest import REPOSITORY
from trainyard.change.impact.compare import compare
from trainyard.change.impact.hands import HandChange, hand_changes, node_work
from trainyard.change.objects import FileChange, Sides
from trainyard.cli.impact.sections import sections
from trainyard.model.by_hand import owner_of

AUDIT = "operators/audit-policy.yaml"
ROUTES = "monitoring/alertmanager-routes.yaml"
STATES = "monitoring/job-states.yaml"
SYNCED = ("README.md", "argocd/kustomization.yaml", "platform/cohort.yaml", "teams/nlp/quota.yaml")
CHANGES: tuple[FileChange, ...] = ("changed", "created", "deleted")
trees = st.dictionaries(st.sampled_from([AUDIT, ROUTES, STATES, *SYNCED]), st.sampled_from(CHANGES))


def changes(files: dict[str, FileChange]) -> tuple[HandChange, ...]:
    return hand_changes(replace(sides({}, {}), files=files))


def test_each_file_has_its_owner() -> None:
    found = changes(
        {ROUTES: "changed", STATES: "deleted", "README.md": "deleted", AUDIT: "created"}
    )
    assert found == (
        HandChange("the owner of Alertmanager", "changed", (ROUTES,)),
        HandChange("the owner of kube-state-metrics", "deleted", (STATES,)),
        HandChange("the owner of the API server", "created", (AUDIT,)),
    )


def test_the_longest_begin_names_the_owner() -> None:
    assert owner_of("operators/clusterlogforwarder-x.yaml") == "a cluster admin"
    assert owner_of("operators/kueue-configuration.yaml") == "the owner of Kueue"
    assert owner_of("nodes/kustomization.yaml") == ""


@given(trees)
def test_each_file_that_has_an_owner_is_named_once(
    files: dict[str, FileChange],
) -> None:
    named = [path for each in changes(files) for path in each.files]
    assert sorted(named) == sorted(files.keys() - {*SYNCED})


def test_a_change_of_one_such_file_is_a_change_of_the_cluster() -> None:
    (cluster,) = compare([replace(sides({}, {}), files={ROUTES: "changed"})], None).clusters
    (section,) = sections(cluster, fields=False)
    assert section.title == "By hand"
    assert section.lines == (
        f"~ for the owner of Alertmanager: {ROUTES}",
        "  Argo CD applies none of it; the README of the cluster says how.",
    )


def test_what_is_in_use_of_a_deleted_file_stays() -> None:
    (cluster,) = compare([replace(sides({}, {}), files={ROUTES: "deleted"})], None).clusters
    (section,) = sections(cluster, fields=False)
    assert section.lines == (
        f"- for the owner of Alertmanager: {ROUTES}",
        "  What is in use of a deleted file stays until its owner removes it.",
    )


def test_new_nodes_need_the_labels_of_their_topology_and_the_files_of_their_pool() -> None:
    """Without the labels Kueue gives them no job, and without the files ranks share cores."""
    for site, _ in own():
        pools = tuple(replace(pool, nodes=pool.nodes + 1) for pool in site.cluster.pools)
        grown = replace(site, cluster=replace(site.cluster, pools=pools))
        works = node_work(Sides(site.name, site, grown, {}, {}))
        named = [file for work in works for file in work.files]
        folder = REPOSITORY / "overlays" / site.name

        assert sorted(named) == sorted(
            f"node-files/{each.name}" for each in folder.glob("node-files/*")
        )
        for pool, work in zip(sorted(pools, key=lambda each: each.name), works, strict=True):
            assert (pool.topology is None) or set(pool.topology.levels) <= set(work.adds)


def test_a_level_more_is_a_label_for_the_nodes_and_one_less_is_no_work() -> None:
    def levels(*names: str) -> dict[str, object]:
        return {
            CLUSTER: {"fabrics": {"ib": {"levels": [f"x.example.com/{each}" for each in names]}}}
        }

    (work,) = node_work(sides(levels("leaf"), levels("spine", "leaf")))

    assert (work.adds, work.removes, work.files) == (("x.example.com/spine",), (), ())
    assert node_work(sides(levels("spine", "leaf"), levels("leaf"))) == ()


@pytest.mark.parametrize(("sync", "waits"), [("manual", 1), ("automatic", 0), ("with-platform", 0)])
def test_somebody_starts_the_sync_of_nodes_only_where_argo_cd_does_not(
    sync: str, waits: int
) -> None:
    synced = sides({}, {CLUSTER: {"nodes": {"sync": sync}}})
    files: dict[str, FileChange] = {"nodes/sriovnetworknodepolicy-x.yaml": "changed"}
    found = compare([replace(synced, files=files)], None).clusters[0]
    lines = [line for each in sections(found, fields=False) for line in each.lines]

    assert lines.count("  Argo CD applies it once somebody starts this sync.") == waits
    assert not any("applies none of it" in line for line in lines)
