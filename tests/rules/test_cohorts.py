"""Trees of cohorts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.cases import findings, messages, platform_of
from trainyard.render.site import render_site

CLUSTER = "clusters/prod-east.yaml"


def cohorts(parents: dict[str, str]) -> dict[str, Any]:
    tree = {name: {"parent": parent} if parent else {} for name, parent in parents.items()}
    return {CLUSTER: {"sharing": "classical", "cohorts": {"research": {}, **tree}}}


@pytest.mark.parametrize(
    ("parents", "cycles"),
    [
        ({"a": "a"}, ["cohort `a` descends from itself: a > a"]),
        ({"a": "b", "b": "a"}, ["cohort `a` descends from itself: a > b > a"]),
        ({"a": "b", "b": "c", "c": "b"}, ["cohort `b` descends from itself: b > c > b"]),
        (
            {"a": "a", "b": "b"},
            ["cohort `a` descends from itself: a > a", "cohort `b` descends from itself: b > b"],
        ),
        ({"a": "b", "b": "research"}, []),
    ],
)
def test_cycle_is_reported_once(parents: dict[str, str], cycles: list[str]) -> None:
    """Cohorts that only lead into a cycle are not reported."""
    assert messages("scheduling/cohort-cycle", cohorts(parents)) == cycles


@given(st.lists(st.sampled_from("abcdef"), min_size=6, max_size=6))
@settings(deadline=None, max_examples=60)
def test_every_cycle_is_found(parents: list[str]) -> None:
    """Six cohorts with a parent each have one finding per cycle."""
    tree = dict(zip("abcdef", parents, strict=True))
    cycles = set()
    for start in "abcdef":
        path = [start]
        while tree[path[-1]] not in path:
            path.append(tree[path[-1]])
        cycles.add(min(path[path.index(tree[path[-1]]) :]))

    assert len(messages("scheduling/cohort-cycle", cohorts(tree))) == len(cycles)


def test_teams_borrow_within_one_tree_of_cohorts() -> None:
    rule = "capacity/borrow-exceeds-lenders"
    borrower = {"quota": {"prod-east": {"dgx-h100": {"nodes": 4, "borrow": 4}}}}
    teams = {"teams/nlp.yaml": borrower, "teams/vision.yaml": {"cohort": "production"}}

    assert messages(rule, {**cohorts({"production": ""}), **teams}) == [
        "`borrow` allows 4 nodes of pool `dgx-h100`, but the other teams lend nothing"
    ]
    assert messages(rule, {**cohorts({"production": "research"}), **teams}) == []
    assert messages(rule, {**cohorts({"production": "root", "root": "research"}), **teams}) == []


def test_cohort_with_a_team_in_a_descendant_is_not_empty() -> None:
    assert (
        messages(
            "scheduling/empty-cohort",
            {CLUSTER: {"cohorts": {"research": {"parent": "all"}, "all": {}}}},
        )
        == []
    )


@pytest.mark.parametrize(
    ("sharing", "parent", "missing"),
    [
        ("fair", "company", ""),
        ("fair", "", "no parent"),
        ("classical", "company", "sharing is classical"),
        ("classical", "", "sharing is classical"),
    ],
)
def test_weight_needs_fair_sharing_and_a_parent(sharing: str, parent: str, missing: str) -> None:
    """Kueue gives a cohort without a parent no share, whatever its weight."""
    research = {"weight": 3} | ({"parent": parent} if parent else {})
    tree = {CLUSTER: {"sharing": sharing, "cohorts": {"company": {}, "research": research}}}
    expected = [f"cohort `research` has weight 3, but {missing}"] if missing else []
    found = [each for each in findings(tree) if each.rule == "scheduling/weight-without-effect"]
    assert [each.message for each in found] == expected
    assert all(bool(each.notes) == (sharing != "fair") for each in found)


@pytest.mark.parametrize(
    ("sharing", "cohort", "missing"),
    [
        ("fair", "research", ""),
        ("fair", "", "no cohort"),
        ("classical", "research", "sharing is classical on each of its clusters"),
    ],
)
def test_weight_of_a_team_needs_fair_sharing_and_a_cohort(
    sharing: str, cohort: str, missing: str
) -> None:
    team = {"weight": 3, "cohort": cohort or None}
    tree = {CLUSTER: {"sharing": sharing}, "teams/nlp.yaml": team}
    expected = [f"team `nlp` has weight 3, but {missing}"] if missing else []
    found = [each for each in findings(tree) if each.rule == "scheduling/weight-without-effect"]
    assert [each.message for each in found] == expected


@pytest.mark.parametrize(("sharing", "stated"), [("fair", ["3"]), ("classical", [])])
def test_queue_of_a_team_has_its_weight(sharing: str, stated: list[str]) -> None:
    tree = {CLUSTER: {"sharing": sharing}, "teams/nlp.yaml": {"weight": 3, "cohort": "research"}}
    (site,) = platform_of(tree).sites
    queues = [each.body for each in render_site(site) if each.name == "nlp-gpu"]
    found = [each["spec"].get("fairSharing", {}).get("weight") for each in queues]
    assert [weight for weight in found if weight] == stated


def _two_pools(largest: int | None) -> dict[str, Any]:
    other = {"hardware": "other", "nodes": 8, "reserve": 1, "fabric": "ib"}
    quota = {"dgx-h100": {"nodes": 4, "borrow": 3}, "other": {"nodes": 5}}
    return {
        "hardware/other.yaml": {"extends": "nvidia-dgx-h100"},
        "clusters/prod-east.yaml": {"pools": {"other": other}},
        "runtimes/openmpi-cuda.yaml": {"hardware": ["dgx-h100", "other"]},
        "teams/nlp.yaml": {
            "quota": {"prod-east": quota},
            "largestJob": largest and {"nodes": largest},
        },
    }


@pytest.mark.parametrize(("largest", "size"), [(7, 7), (6, 6), (5, 5), (None, 5), (4, 4)])
def test_borrowed_nodes_are_counted_on_each_pool(largest: int | None, size: int) -> None:
    """A job is on one pool, and what the team owns of another is not part of it."""
    expected = (
        f"the largest job of team nlp on pool `dgx-h100` takes {size} nodes, of which it owns 4 "
        f"and borrows {size - 4}"
    )
    found = messages("scheduling/job-on-borrowed-nodes", _two_pools(largest))
    assert found == [expected] * (size > 4)
