"""Regulations, sizes of claims, priorities, and what people do on nodes: each with both values."""

from __future__ import annotations

from typing import Any

import pytest

from tests.change.impact.platforms import CLUSTER, NLP, sides, tree, two
from trainyard.change.impact.cluster_facts import CHANGED_BY, SYNCED_BY, SYNCED_FROM
from trainyard.change.impact.facts import FactChange, fact_changes
from trainyard.change.impact.hands import NodeWork, ServerChange, node_work, server_change
from trainyard.change.impact.model import ClusterImpact
from trainyard.change.impact.states import (
    ClaimChange,
    DeadlineChange,
    PriorityChange,
    RegulationChange,
    claim_changes,
    deadline_changes,
    priority_changes,
    regulation_changes,
)
from trainyard.cli.impact.sections import sections

HARDWARE = "hardware/dgx-h100.yaml"
HIPAA = "compliance/hipaa.yaml"
UNDER: dict[str, Any] = {
    HIPAA: {"title": "HIPAA", "controls": {"audit": "a", "fips": "b"}},
    NLP: {"compliance": "hipaa"},
}


def grow(nodes: int) -> dict[str, Any]:
    return {CLUSTER: {"pools": {"dgx-h100": {"nodes": nodes}}}}


def lines(**found: Any) -> list[str]:
    cluster = ClusterImpact("lab", "changed", **found)
    return [line for section in sections(cluster, fields=False) for line in section.lines]


def test_team_that_leaves_a_regulation_is_named_with_all_that_it_is_held_to_no_longer() -> None:
    (left,) = regulation_changes(sides(UNDER, {**UNDER, NLP: {}}))

    assert left == RegulationChange("nlp", "HIPAA", "", ("audit", "fips"), ())
    assert lines(regulations=(left,)) == [
        "! nlp is under HIPAA -> no regulation",
        "! no longer demanded of nlp: audit, fips",
    ]


def test_regulation_that_demands_less_concerns_the_teams_under_it() -> None:
    less = {**UNDER, HIPAA: {"title": "HIPAA", "controls": {"audit": "a"}}}

    assert regulation_changes(sides(UNDER, less)) == (
        RegulationChange("nlp", "HIPAA", "HIPAA", ("fips",), ()),
    )
    assert regulation_changes(sides(less, UNDER)) == (
        RegulationChange("nlp", "HIPAA", "HIPAA", (), ("fips",)),
    )
    assert regulation_changes(sides(UNDER, UNDER)) == ()


def test_measure_that_the_tree_meets_no_longer_is_named() -> None:
    """Nobody tells an API server of a provider what to record: the audit is open."""
    unavailable = {**UNDER, CLUSTER: {"unavailable": ["api-server-flags"]}}
    (change,) = regulation_changes(sides(UNDER, unavailable))

    assert change == RegulationChange("nlp", "HIPAA", "HIPAA", (), (), ("audit",), ())
    assert lines(regulations=(change,)) == ["! no longer answered for nlp: audit"]
    (again,) = regulation_changes(sides(unavailable, UNDER))
    assert lines(regulations=(again,)) == ["+ answered for nlp: audit"]


def claim(size: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "scratch", "namespace": "team-nlp"},
        "spec": {"resources": {"requests": {"storage": size}}},
    }


@pytest.mark.parametrize(("size", "grows"), [("900Ti", True), ("20480Gi", False), ("1Ti", False)])
def test_claim_that_grows_is_said_to_be_final(size: str, grows: bool) -> None:
    (change,) = claim_changes(two(tree(claim("20Ti")), tree(claim(size))))

    assert change == ClaimChange("team-nlp", "scratch", "20Ti", size)
    assert change.grows is grows
    told = lines(claims=(change,))
    assert told[0] == f"{'!' if grows else '~'} claim scratch of team-nlp: 20Ti -> {size}"
    assert (told[1:] != []) is grows


@pytest.mark.parametrize(("before", "after"), [("yes", "no"), ("no", "yes")])
def test_page_of_evidence_goes_with_the_last_team_under_a_regulation(
    before: str, after: str
) -> None:
    states: dict[str, dict[str, Any]] = {"yes": UNDER, "no": {}}
    facts = fact_changes(sides(states[before], states[after]))

    assert f"~ COMPLIANCE.md: is in the tree {before} -> {after}" in lines(facts=facts)


def test_priority_is_told_by_namespaces() -> None:
    some = {CLUSTER: {"priorities": {"batch": 1, "production": 9}}, NLP: {"priorities": ["batch"]}}
    every = {**some, NLP: {"priorities": None}}

    (gained,) = priority_changes(sides(some, every))
    assert gained == PriorityChange("production", True, ("team-nlp",))
    assert priority_changes(sides(every, some)) == (
        PriorityChange("production", False, ("team-nlp",)),
    )
    assert lines(priorities=(gained,))[0] == "+ jobs of team-nlp may have priority production"


def test_deadline_is_told_with_both_times() -> None:
    def ends(deadline: str | None) -> dict[str, Any]:
        batch = {"value": 500, "deadline": deadline} if deadline else 500
        return {CLUSTER: {"priorities": {"batch": batch, "production": 1000}}}

    (change,) = deadline_changes(sides(ends("2d"), ends("1d")))
    assert change == DeadlineChange("batch", 172800, 86400)
    assert lines(deadlines=(change,)) == ["~ a new job of priority batch may run 2d -> 1d"]
    (without,) = deadline_changes(sides(ends("2d"), ends(None)))
    assert lines(deadlines=(without,)) == [
        "~ a new job of priority batch may run 2d -> for any time"
    ]


def test_new_nodes_and_other_taints_are_work_for_the_owner_of_the_nodes() -> None:
    (work,) = node_work(sides({}, grow(11)))
    assert (work.pool, work.nodes, work.removes) == ("dgx-h100", 2, ())
    assert "nvidia.com/gpu:NoSchedule" in work.adds
    tainted = sides({}, {HARDWARE: {"taint": "ml.example.com/gpu"}})
    assert node_work(tainted) == (
        NodeWork("dgx-h100", 9, ("ml.example.com/gpu:NoSchedule",), ("nvidia.com/gpu:NoSchedule",)),
    )
    both = sides({}, {HARDWARE: {"taint": "ml.example.com/gpu"}, **grow(11)})
    stays, new = node_work(both)
    assert (stays.nodes, stays.removes) == (9, ("nvidia.com/gpu:NoSchedule",))
    assert (new.nodes, new.removes) == (2, ())
    assert set(new.adds) > set(stays.adds)
    assert node_work(sides({}, grow(8))) == ()


def test_moved_server_leaves_everything_at_the_old_address() -> None:
    old, new = "https://old.example.com:6443", "https://new.example.com:6443"
    moved = server_change(sides({CLUSTER: {"server": old}}, {CLUSTER: {"server": new}}))

    assert moved == ServerChange(old, new)
    assert lines(server=moved)[0] == f"! the API server moves: {old} -> {new}"
    assert server_change(sides({}, {})) is None


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        (
            SYNCED_FROM,
            [
                "! for the owner of Argo CD: access to b",
                "  Until Argo CD reads this commit there, it changes nothing. What runs stays.",
            ],
        ),
        (
            SYNCED_BY,
            [
                "! for a cluster admin: apply `argocd/` for b, delete the Applications of a",
                "  Delete them without their objects. While both are there, both sync the cluster.",
            ],
        ),
        (
            CHANGED_BY,
            [
                "! for the owner of Argo CD: its account on the cluster is b",
                "  The policies refuse what it writes as another account.",
            ],
        ),
    ],
)
def test_delivery_that_moves_is_work_at_argocd(what: str, expected: list[str]) -> None:
    fact = FactChange("Delivery", ("the cluster",), what, "a", "b")

    assert lines(facts=(fact,)) == [f"~ the cluster: {what} a -> b", *expected]
