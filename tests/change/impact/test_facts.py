"""Values that people depend on are told in words, with what they were before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.change.impact.platforms import CLUSTER, NLP, RUNTIME, VISION, sides
from trainyard.change.impact.compare import compare
from trainyard.change.impact.reaction import Effect
from trainyard.cli.impact.sections import sections, size_of

Changes = Mapping[str, Any]


def lines(before: Changes, after: Changes, title: str) -> list[str]:
    """Return the lines below a heading."""
    (cluster,) = compare([sides(before, after)], None).clusters
    found = {section.title: list(section.lines) for section in sections(cluster, fields=False)}
    return found.get(title, [])


def test_number_of_own_runtimes_is_told() -> None:
    before, after = {NLP: {"ownRuntimes": 3}}, {NLP: {"ownRuntimes": 9}}
    assert lines(before, after, "Runtimes") == [
        "~ nlp: TrainingRuntimes that its admins may make in each namespace 3 -> 9"
    ]


def test_same_value_of_several_subjects_is_told_once() -> None:
    after = {NLP: {"contact": "x@example.com"}, VISION: {"contact": "x@example.com"}}
    before = {NLP: {"contact": "y@example.com"}, VISION: {"contact": "y@example.com"}}
    assert lines(before, after, "Alerts") == [
        "~ team nlp, team vision: is told at y@example.com -> x@example.com"
    ]


def test_claims_for_admins_without_any_admin_are_told() -> None:
    claims = {"claims": {"scratch": "1Ti"}}
    before = {NLP: claims}
    after = {NLP: {**claims, "groups": {"admin": None}}}
    assert "~ nlp: storage may be claimed by its admins -> nobody, for it has no admin" in lines(
        before, after, "Storage"
    )
    assert lines({}, {NLP: {"groups": {"admin": None}}}, "Storage") == []


def test_storage_that_comes_is_told_and_that_of_a_new_namespace_is_not() -> None:
    assert lines({VISION: {"storage": {"home": None}}}, {}, "Storage") == [
        "~ team-vision: home none -> a claim"
    ]
    space = {"spaces": {"extra": {"storage": {"home": "1Ti"}}}}
    ids = {"prod-east": {"uids": {"team-vision-extra": {"range": "1000700000/10000"}}}}
    ids["prod-east"]["uids"]["team-vision-extra"]["level"] = "s0:c27,c4"
    assert lines({}, {VISION: space, "allocations.yaml": ids}, "Storage") == []


def test_new_version_of_a_runtime_is_no_edit_of_the_old_one() -> None:
    found = lines({}, {RUNTIME: {"version": 4, "docs": "https://docs.example.com"}}, "Runtimes")
    assert not [line for line in found if "documentation" in line]


def test_class_for_teams_without_priorities_is_told_with_its_deadline() -> None:
    limit = {CLUSTER: {"priorities": {"batch": {"value": 500, "deadline": "2d"}}}}
    less = {CLUSTER: {"priorities": {"batch": {"value": 500, "deadline": "1d"}, "urgent": 2000}}}
    assert lines(limit, less, "Jobs")[:3] == [
        "+ jobs of team-nlp, team-vision may have priority urgent",
        "  Within a team's queue a job goes before those of lower priority, and evicts them.",
        "~ a new job of priority batch may run 2d -> 1d",
    ]


def test_value_of_a_priority_is_told_though_no_other_is_passed() -> None:
    after = {CLUSTER: {"priorities": {"batch": 600}}}
    assert lines({}, after, "Jobs") == ["~ priority batch: value 500 -> 600"]


def test_eviction_of_a_team_without_gpus_has_a_size() -> None:
    (cluster,) = compare([sides({}, {NLP: {"state": "draining"}})], None).clusters
    (evicted,) = (each for each in cluster.disruptions if each.effect is Effect.EVICTS)
    assert size_of(evicted) == "at most 32 running GPUs"
    assert size_of(replace(evicted, gpus=0)) == "on at most 4 nodes of dgx-h100"
    assert size_of(replace(evicted, gpus=0, effect=Effect.DRAINS)) == ""


def test_owner_of_openshift_is_told_whose_writes_the_api_server_records() -> None:
    """No file of the tree says so: the README has the command."""
    roles = {CLUSTER: {"roles": {"operator": ["ml-platform", "sre"]}}}
    user = {CLUSTER: {"roles": {"operator": ["ml-platform", "User:ada"]}}}
    before = {CLUSTER: {"roles": {"operator": ["ml-platform"]}}}
    plain = {"release": "kubernetes-1.36", "monitoring": {"stack": "prometheus-operator"}}
    line = "~ the API server: records, by the README's command, writes of ml-platform -> {}"

    assert line.format("ml-platform, sre") in lines(before, roles, "By hand")
    assert line.format("everybody") in lines(before, user, "By hand")
    old, new = ({CLUSTER: {**each[CLUSTER], **plain}} for each in (before, roles))
    assert not any("records" in told for told in lines(old, new, "By hand"))
