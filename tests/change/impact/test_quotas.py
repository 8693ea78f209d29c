"""Quota on both sides of a change: who gains and who loses."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.change.impact.platforms import CLUSTER, NLP, RUNTIME, VISION, quota, sides
from trainyard.change.impact.compare import compare
from trainyard.change.impact.model import ClusterImpact
from trainyard.change.impact.pools import (
    CohortChange,
    OrderChange,
    cohort_changes,
    order_changes,
    pool_changes,
)
from trainyard.change.impact.quotas import ResourceChange, quota_changes, transfers
from trainyard.cli.impact.quotas import quota_lines
from trainyard.profiles.read import presets

NO_NAME: dict[str, str] = {}
NODES = st.integers(0, 8)
NICS = presets()["nvidia-dgx-h100"].value["nics"]


def of(nlp: int, vision: int) -> dict[str, Any]:
    """Return both teams with some nodes, and no largest job of their own."""
    return {
        NLP: {**quota(nlp), "largestJob": None},
        VISION: {**quota(vision), "largestJob": None},
    }


def test_nothing_that_is_equal_is_a_change() -> None:
    """The same numbers at another line of the profile are the same."""
    same = sides({}, {})
    assert same.old is not None
    assert same.new is not None
    moved = replace(same.new.tenants[0].queues[0].flavors[0].quota, at=same.new.cluster.at)
    flavor = replace(same.new.tenants[0].queues[0].flavors[0], quota=moved)
    queue = replace(same.new.tenants[0].queues[0], flavors=(flavor,))
    tenant = replace(same.new.tenants[0], queues=(queue,))
    other = replace(same, new=replace(same.new, tenants=(tenant, *same.new.tenants[1:])))

    for each in (same, other):
        assert quota_changes(each) == ()
        assert transfers(each) == ()
        assert pool_changes(each) == ()


@given(NODES, NODES, NODES, NODES)
def test_changes_add_up(nlp: int, vision: int, nlp_after: int, vision_after: int) -> None:
    """Each change has the profile's numbers, and the pool's head-room is what they leave."""
    change = sides(of(nlp, vision), of(nlp_after, vision_after))
    changed = {each.team: each for each in quota_changes(change)}
    numbers = {"nlp": (nlp, nlp_after), "vision": (vision, vision_after)}

    assert set(changed) == {team for team, (old, new) in numbers.items() if old != new}
    for team, each in changed.items():
        assert each.before is not None
        assert each.after is not None
        assert (int(each.before.nodes), int(each.after.nodes)) == numbers[team]
    pools = pool_changes(change)
    room = Fraction(8 - nlp - vision), Fraction(8 - nlp_after - vision_after)
    assert [(each.before.room, each.after.room) for each in pools] == (
        [room] if room[0] != room[1] else []
    )


@given(NODES, NODES, NODES, NODES)
def test_transfer_needs_a_giver_and_a_taker(
    nlp: int, vision: int, nlp_after: int, vision_after: int
) -> None:
    """It has each team once, on the side that its own nodes moved to."""
    found = transfers(sides(of(nlp, vision), of(nlp_after, vision_after)))
    gains = {"nlp": nlp_after - nlp, "vision": vision_after - vision}

    assert bool(found) is (min(gains.values()) < 0 < max(gains.values()))
    for transfer in found:
        assert transfer.pool == "dgx-h100"
        assert {each[0] for each in transfer.givers} == {t for t, by in gains.items() if by < 0}
        assert {each[0] for each in transfer.takers} == {t for t, by in gains.items() if by > 0}


@pytest.mark.parametrize(
    ("change", "reach"),
    [
        ({NLP: quota(4, borrow=3) | {"largestJob": {"nodes": 7}}}, 7),
        ({NLP: quota(8)}, 4),
        ({NLP: {"largestJob": {"nodes": 3}}}, 3),
        ({RUNTIME: {"maxNodes": 2}}, 2),
        ({NLP: {**quota(1), "largestJob": None}}, 0),
        ({NLP: {"state": "draining"}}, 0),
        ({NLP: {**quota(0, borrow=4)}}, 4),
    ],
)
def test_reach_is_the_largest_job_that_is_admitted(change: dict[str, Any], reach: int) -> None:
    """The least of the largest job, the runtime's cap and own with borrowed nodes; none of the
    size of one node with MPI, none of a draining team."""
    (changed, *_) = [
        each for each in quota_changes(sides({NLP: quota(5)}, change)) if each.team == "nlp"
    ]

    assert changed.reach_before == 4
    assert changed.reach_after == reach


def test_halved_gpus_of_a_node_halve_what_each_team_has() -> None:
    """The quota is in nodes and stays, and every team loses half of its GPUs."""
    hardware = "hardware/dgx-h100.yaml"
    fewer = {"gpu": {"count": 4}, "nics": NICS[:4]}
    change = sides({NLP: quota(2)}, {NLP: quota(2), hardware: fewer})
    (nlp, vision) = quota_changes(change)

    assert nlp.before == nlp.after
    assert nlp.resources == (ResourceChange("nvidia.com/gpu", 16, 8),)
    assert [each.resource for each in vision.resources] == ["nvidia.com/gpu"]
    (pool,) = pool_changes(change)
    assert pool.node == (ResourceChange("nvidia.com/gpu", 8, 4),)
    lines = [*quota_lines(ClusterImpact("x", "changed", quotas=(nlp,), pools=(pool,)))]
    assert lines == [
        "~ nlp on dgx-h100: 16 -> 8 GPUs",
        "~ a node of pool dgx-h100 has nvidia.com/gpu 8 -> 4",
    ]


@pytest.mark.parametrize(
    ("system", "resource"), [({"cpu": 40}, "cpu"), ({"memory": "200Gi"}, "memory")]
)
def test_what_daemons_keep_is_taken_from_teams(system: dict[str, Any], resource: str) -> None:
    change = sides({}, {"hardware/dgx-h100.yaml": {"system": system}})

    for quota_change in quota_changes(change):
        (amount,) = quota_change.resources
        assert amount.resource == resource
        assert amount.after < amount.before


def test_share_of_a_node_reaches_its_gpus() -> None:
    """A job on parts of a node counts as a fraction."""
    share = {"quota": {"prod-east": {"dgx-h100": {"nodes": None, "gpus": 4}}}, "largestJob": None}
    (changed,) = quota_changes(sides({}, {NLP: share}))

    assert changed.after is not None
    assert changed.after.display(changed.after.nodes) == "4 GPUs"
    assert changed.after.display(changed.reach_after) == "4 GPUs"


def test_lending_and_borrowing_are_changes() -> None:
    """Own nodes stay, what others may use does not."""
    (changed,) = quota_changes(sides({NLP: quota(4)}, {NLP: quota(4, lend=2)}))

    assert changed.before is not None
    assert changed.after is not None
    assert (int(changed.before.lend), int(changed.after.lend)) == (4, 2)


def test_renamed_team_keeps_its_quota() -> None:
    """It does not lose its nodes to itself."""
    before = sides({}, {})
    assert before.new is not None
    first, *others = before.new.tenants
    tenant = replace(first, team=replace(first.team, name="language"))
    change = replace(before, new=replace(before.new, tenants=(tenant, *others)))

    assert quota_changes(replace(change, renamed={"nlp": "language"})) == ()
    assert transfers(replace(change, renamed={"nlp": "language"})) == ()
    assert pool_changes(change) == ()
    assert [each.team for each in quota_changes(change)] == ["language", "nlp"]


def test_retired_team_loses_its_quota_to_the_pool() -> None:
    """Its nodes become head-room."""
    change = sides({}, {NLP: {"state": "retired"}})
    (changed,) = quota_changes(change)
    (pool,) = pool_changes(change)

    assert changed.after is None
    assert [changed.reach_before, changed.reach_after] == [4, 0]
    assert (pool.before.nodes, pool.after.nodes) == (9, 9)
    assert (int(pool.before.room), int(pool.after.room)) == (0, 4)


def test_larger_pool_has_more_room() -> None:
    """Nodes count with the reserve, room without it."""
    (pool,) = pool_changes(sides({}, {CLUSTER: {"pools": {"dgx-h100": {"nodes": 13}}}}))

    assert (pool.before.nodes, pool.after.nodes) == (9, 13)
    assert (int(pool.before.room), int(pool.after.room)) == (0, 4)


def test_new_cluster_gives_everything_and_a_deleted_one_takes_it() -> None:
    """A side without a cluster has no nodes."""
    both = sides({}, {})
    created = replace(both, old=None, before={})
    deleted = replace(both, new=None, after={})

    assert [each.before for each in quota_changes(created)] == [None, None]
    assert [each.after for each in quota_changes(deleted)] == [None, None]
    assert [each.before.nodes for each in pool_changes(created)] == [0]
    assert [each.after.nodes for each in pool_changes(deleted)] == [0]


def test_unreadable_old_profiles_are_no_new_cluster() -> None:
    """The tree has the teams already: no number is shown as gained."""
    unknown = replace(sides({}, {NLP: quota(2)}), old=None)

    assert quota_changes(unknown) == ()
    assert transfers(unknown) == ()
    assert pool_changes(unknown) == ()

    same = replace(unknown, after=unknown.before)
    assert compare([same], None).clusters == ()


def test_lender_that_lends_less_shortens_the_reach_of_others() -> None:
    """The borrower's own profile is the same."""
    borrower = {NLP: quota(4, borrow=3) | {"largestJob": {"nodes": 7}}}
    changed = {
        each.team: each
        for each in quota_changes(sides(borrower, {**borrower, VISION: quota(4, lend=1)}))
    }

    assert changed["nlp"].before == changed["nlp"].after
    assert [changed["nlp"].reach_before, changed["nlp"].reach_after] == [7, 5]
    assert [changed["vision"].reach_before, changed["vision"].reach_after] == [4, 4]


TWO_POOLS = {
    "hardware/small.yaml": {"extends": "nvidia-dgx-h100"},
    RUNTIME: {"hardware": ["dgx-h100", "small"]},
    NLP: {"quota": {"prod-east": {"dgx-h100": {"nodes": 4}, "small": {"nodes": 2}}}},
}


def preferring(small: int) -> dict[str, Any]:
    pool = {"hardware": "small", "nodes": 3, "fabric": "ib", "preference": small}
    return {**TWO_POOLS, CLUSTER: {"pools": {"small": pool, "dgx-h100": {"preference": 2}}}}


def test_pools_in_another_order_are_a_change_of_the_queue() -> None:
    """No amount differs; an edit that keeps the order is none."""
    change = sides(preferring(1), preferring(3))
    assert order_changes(change) == (
        OrderChange("nlp-gpu", ("small", "dgx-h100"), ("dgx-h100", "small")),
    )
    assert order_changes(sides(preferring(3), preferring(9))) == ()
    assert order_changes(sides({}, preferring(1))) == ()


def test_reserve_is_a_change_of_the_pool() -> None:
    """Also where its nodes and head-room stay."""
    less = {CLUSTER: {"pools": {"dgx-h100": {"reserve": 0}}}, NLP: quota(5)}
    (pool,) = pool_changes(sides({}, less))
    assert (pool.before.nodes, pool.after.nodes) == (9, 9)
    assert (pool.before.reserve, pool.after.reserve) == (1, 0)
    assert [pool.before.room, pool.after.room] == [0, 0]


def test_team_in_another_cohort_has_other_peers() -> None:
    """So has each team of a cohort that gets a parent."""
    other: dict[str, Any] = {CLUSTER: {"cohorts": {"research": {}, "other": {}}}}
    (moved,) = cohort_changes(sides(other, {**other, NLP: {"cohort": "other"}}))
    assert moved == CohortChange("nlp", ("research",), ("other",), ("vision",), ())

    below = {CLUSTER: {"cohorts": {"research": {"parent": "other"}, "other": {}}}}
    found = cohort_changes(sides(other, below))
    assert [(each.team, each.after) for each in found] == [
        ("nlp", ("research", "other")),
        ("vision", ("research", "other")),
    ]
    assert cohort_changes(sides({}, {NLP: quota(1)})) == ()
