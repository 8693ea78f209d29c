"""Nodes that go out of use and come back, and pools on which no job can start any more."""

from __future__ import annotations

from typing import Any

from tests.change.impact.platforms import CLUSTER, NLP, VISION, quota, sides
from trainyard.change.impact.compare import compare
from trainyard.change.impact.model import ClusterImpact
from trainyard.change.impact.reaction import Effect
from trainyard.cli.impact.quotas import quota_lines

NODES = [f"gpu-{number:02}" for number in range(1, 10)]


def out(nodes: list[str], until: str = "2026-12-01", **taken: int) -> dict[str, Any]:
    """Return a pool of nine nodes, one in reserve, with some in maintenance."""
    entry: dict[str, Any] = {"nodes": nodes, "until": until, "reason": "new cables"}
    entry |= {"from": taken} if taken else {}
    return {CLUSTER: {"pools": {"dgx-h100": {"maintenance": [entry]}}}}


def impact(before: dict[str, Any], after: dict[str, Any]) -> ClusterImpact:
    (cluster,) = compare([sides(before, after)], None).clusters
    return cluster


def test_node_of_the_reserve_changes_no_quota() -> None:
    found = impact({}, out(NODES[:1]))
    assert (found.quotas, found.disruptions) == ((), ())
    assert [*quota_lines(found)] == [
        "! pool dgx-h100: 1 of 9 nodes out of use",
        "  gpu-01 until 2026-12-01 (new cables)",
        "  Somebody must cordon them: until then the scheduler still uses them.",
        "~ pool dgx-h100: reserve 1 -> 0 nodes",
    ]


def test_team_that_gives_a_node_may_lose_jobs_and_gets_it_back() -> None:
    found = impact(out(NODES[:1]), out(NODES[:2], nlp=1))
    assert [(each.effect, each.teams) for each in found.disruptions] == [
        (Effect.RECLAIMS, ("nlp",)),
    ]
    lines = [*quota_lines(found)]
    assert lines[0] == "! pool dgx-h100: 2 of 9 nodes out of use"
    assert "  larger jobs wait until nodes are back in use" in lines
    assert "~ pool dgx-h100: promised 8 -> 7 nodes" in lines

    back = impact(out(NODES[:2], nlp=1), {})
    assert back.disruptions == ()
    assert "  back in use: gpu-01, gpu-02" in quota_lines(back)


def test_nodes_that_are_lent_for_a_weekend_cost_what_they_cost_before() -> None:
    priced: dict[str, Any] = {CLUSTER: {"pools": {"dgx-h100": {"nodeHour": "96 USD"}}}}
    entry = {"nodes": NODES[:2], "until": "2026-12-01", "reason": "new cables", "from": {"nlp": 1}}
    lent = {CLUSTER: {"pools": {"dgx-h100": {"nodeHour": "96 USD", "maintenance": [entry]}}}}
    lines = [*quota_lines(impact(priced, lent))]

    assert [line for line in lines if line.startswith("~ nlp on dgx-h100: 4 -> 3 nodes")]
    assert not [line for line in lines if "a month" in line]
    fewer = impact(priced, {**priced, NLP: quota(3) | {"largestJob": None}})
    assert [line for line in quota_lines(fewer) if "280,320.00 -> 210,240.00 USD a month" in line]


def test_other_day_takes_no_node() -> None:
    found = impact(out(NODES[:1]), out(NODES[:1], until="2026-12-24"))
    assert [*quota_lines(found)] == [
        "~ pool dgx-h100: 1 of 9 nodes out of use",
        "  gpu-01 until 2026-12-24 (new cables)",
        "  before: gpu-01 until 2026-12-01 (new cables)",
    ]


def test_whole_pool_holds_its_queues() -> None:
    (change,) = impact({}, out(NODES)).maintenance
    assert (change.held, change.released) == (("nlp-gpu", "vision-gpu"), ())
    (change,) = impact(out(NODES), {}).maintenance
    assert (change.held, change.released) == ((), ("nlp-gpu", "vision-gpu"))


def test_pool_without_a_node_of_any_team_is_emptied() -> None:
    nobody = {team: {**quota(0), "largestJob": None} for team in (NLP, VISION)}
    emptied = "! no job can start on pool dgx-h100 any more: no team has nodes of it"
    assert emptied in quota_lines(impact({}, nobody))
    assert emptied in quota_lines(impact({}, out(NODES)))
    assert emptied not in quota_lines(impact({}, {**nobody, NLP: quota(1)}))
    assert emptied not in quota_lines(impact(nobody, {}))
