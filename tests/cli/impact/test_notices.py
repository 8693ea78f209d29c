"""The first line: each notice is said of the edit that loses, opens or ends something."""

from __future__ import annotations

from typing import Any

import pytest

from tests.change.impact.platforms import CLUSTER, NLP, quota, sides
from trainyard.change.impact.compare import compare
from trainyard.cli.impact import notices as module
from trainyard.cli.impact.jobs import stuck_lines

KEPT = {"monitoring": {"logs": {"keep": "30d", "dropCredentials": True}}}
STORE = {"egress": {"object-store": {"to": ["203.0.113.0/28"], "ports": [443]}}}
OPENED = {"egress": {"object-store": {"to": ["203.0.113.0/28"], "ports": [443, 8443]}}}
ADOPT = {"pods": "warn", "until": "2099-03-31", "reason": "inference moves"}
NOTICES: dict[str, tuple[str, Any, Any, str]] = {
    "starts no job that waits in": (
        NLP,
        {"queues": {"gpu": ["old", "other"]}},
        {"queues": {"gpu": ["other"]}},
        "team-nlp/old",
    ),
    "takes resources from": (NLP, quota(3), quota(2), "nlp"),
    "grows for good": (
        NLP,
        {"storage": {"scratch": "20Ti"}},
        {"storage": {"scratch": "30Ti"}},
        "team-nlp/scratch",
    ),
    "permits another priority to": (
        NLP,
        {"priorities": ["batch"]},
        {"priorities": ["batch", "production"]},
        "team-nlp",
    ),
    "opens network paths of": (CLUSTER, STORE, OPENED, "team-nlp, team-vision"),
    "closes network paths of": (CLUSTER, OPENED, STORE, "team-nlp, team-vision"),
    "gives rights to": (
        CLUSTER,
        {"roles": {"operator": ["ml-platform"]}},
        {"roles": {"operator": ["ml-platform", "helpdesk"]}},
        "group helpdesk",
    ),
    "takes rights from": (
        CLUSTER,
        {"roles": {"operator": ["ml-platform", "helpdesk"]}},
        {"roles": {"operator": ["ml-platform"]}},
        "group helpdesk",
    ),
    "permits further kinds to the teams' accounts on": (
        CLUSTER,
        {"memberKinds": ["kafkausers.kafka.strimzi.io"]},
        {"memberKinds": ["kafkatopics.kafka.strimzi.io", "kafkausers.kafka.strimzi.io"]},
        "prod-east",
    ),
    "lets pods of others use the pools of": (CLUSTER, {}, {"adopt": ADOPT}, "prod-east"),
    "refuses new pods of others on the pools of": (
        CLUSTER,
        {"adopt": ADOPT},
        {"adopt": None},
        "prod-east",
    ),
    "keeps log lines for a shorter time of": (
        CLUSTER,
        KEPT,
        {"monitoring": {"logs": {"keep": "3d", "dropCredentials": True}}},
        "nlp, vision",
    ),
    "keeps log lines with credentials on": (
        CLUSTER,
        KEPT,
        {"monitoring": {"logs": {"keep": "30d", "dropCredentials": False}}},
        "prod-east",
    ),
}


def notices(file: str, before: Any, after: Any) -> list[str]:
    """Return what the first line says beside disruptions."""
    return list(module.notices(compare([sides({file: before}, {file: after})], None)))


@pytest.mark.parametrize("what", NOTICES)
def test_first_line_says_what_is_lost_or_opened(what: str) -> None:
    file, before, after, whose = NOTICES[what]

    assert notices(file, before, after) == [f"{what} {whose}"]


@pytest.mark.parametrize("what", NOTICES)
def test_the_revert_is_no_loss_of_the_same(what: str) -> None:
    file, before, after, _ = NOTICES[what]

    assert not [each for each in notices(file, after, before) if each.startswith(what)]


def test_first_line_names_the_team_whose_regulation_is_met_no_longer() -> None:
    under: dict[str, Any] = {
        "compliance/hipaa.yaml": {"title": "HIPAA", "controls": {"audit": "a"}},
        NLP: {"compliance": "hipaa"},
    }
    unavailable = {**under, CLUSTER: {"unavailable": ["api-server-flags"]}}

    told = list(module.notices(compare([sides(under, unavailable)], None)))
    assert told == ["leaves measures unanswered for nlp"]
    assert list(module.notices(compare([sides(unavailable, under)], None))) == []


def test_who_gets_another_role_instead_gains() -> None:
    """An admin of a team was its user before: nobody need be told that a right was taken."""
    before = {"groups": {"admin": ["leads"], "user": ["nlp", "people"]}}
    after = {"groups": {"admin": ["leads", "people"], "user": ["nlp"]}}

    assert notices(NLP, before, after) == ["gives rights to group people"]


def test_jobs_of_a_queue_name_that_goes_are_said_to_wait() -> None:
    """Kueue starts them no more, and no policy has anything to refuse."""
    change = sides({NLP: {"queues": {"gpu": ["old"]}}}, {NLP: {"queues": {}}})

    (cluster,) = compare([change], None).clusters
    assert list(stuck_lines(cluster)) == [
        "! jobs in LocalQueue team-nlp/old wait until there is a queue of that name again"
    ]


def test_team_that_is_held_to_less_is_named() -> None:
    def under(**controls: str) -> dict[str, Any]:
        regulation = {"title": "HIPAA", "controls": controls}
        return {NLP: {"compliance": "hipaa"}, "compliance/hipaa.yaml": regulation}

    change = sides(under(audit="a", fips="b"), under(audit="a"))

    assert [*module.notices(compare([change], None))] == ["demands less of nlp"]


def test_every_notice_is_tried() -> None:
    of_regulations = {"demands less of", "leaves measures unanswered for"}
    assert NOTICES.keys() | of_regulations == module._NOTICES.keys()


@pytest.mark.parametrize(
    ("file", "edit", "notice"),
    [
        ("trainyard.yaml", {"branch": "live"}, "moves the source of prod-east"),
        (
            "trainyard.yaml",
            {"repository": "https://git.example.com/ml/other.git"},
            "moves the source of prod-east",
        ),
        (CLUSTER, {"argocd": {"namespace": "gitops"}}, "lets another Argo CD sync prod-east"),
    ],
    ids=["branch", "repository", "namespace"],
)
def test_delivery_moves_in_both_directions(file: str, edit: Any, notice: str) -> None:
    assert notice in notices(file, {}, edit)
    assert notice in notices(file, edit, {})
