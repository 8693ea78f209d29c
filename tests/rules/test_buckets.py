"""Ways to object stores, and whose a bucket is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import messages

CLUSTER, NLP, VISION = "clusters/prod-east.yaml", "teams/nlp.yaml", "teams/vision.yaml"


def store(endpoint: str, **egress: Any) -> dict[str, Any]:
    """Return changes of the base's object store and of the way to it."""
    s3 = {"endpoint": endpoint, "secretStore": "vault", "path": "ml/teams"}
    return {CLUSTER: {"storage": {"checkpoints": {"s3": s3}}, "egress": {"object-store": egress}}}


@pytest.mark.parametrize(
    ("endpoint", "egress", "told"),
    [
        ("https://s3.corp.internal", {}, None),
        ("https://s3.corp.internal/", {"from": "jobs"}, None),
        ("https://s3.corp.internal", {"from": "workspaces"}, "port 443 of s3.corp.internal"),
        ("https://s3.corp.internal", {"ports": [80]}, "port 443 of s3.corp.internal"),
        ("http://s3.corp.internal", {}, "port 80 of s3.corp.internal"),
        ("https://s3.corp.internal:9000/base", {}, "port 9000 of s3.corp.internal"),
        ("https://s3.corp.internal:9000", {"ports": [443, 9000]}, None),
        ("https://s3.corp.internal:99999", {}, "port 99999 of s3.corp.internal"),
        (
            "https://s3.corp.internal",
            {"to": None, "namespaces": ["object-store"]},
            "port 443 of s3.corp.internal",
        ),
        (
            "https://s3.object-store.svc",
            {"to": None, "namespaces": ["object-store"], "ports": [8443]},
            None,
        ),
        (
            "https://s3.object-store.svc.cluster.local:1",
            {"to": None, "namespaces": ["object-store"]},
            None,
        ),
        (
            "https://s3.object-store.svc",
            {"to": None, "namespaces": ["other"]},
            "port 443 of s3.object-store.svc",
        ),
        ("https://s3.object-store.svc", {}, "port 443 of s3.object-store.svc"),
        ("https://s3.object-store.svc.example.com", {}, None),
    ],
)
def test_way_leads_jobs_to_the_store(
    endpoint: str, egress: dict[str, Any], told: str | None
) -> None:
    """By port and address from outside, by namespace inside, where the port that counts is the
    pods' own."""
    said = messages("isolation/bucket-without-egress", store(endpoint, **egress))

    assert said == (
        [] if told is None else [f"no way out leads jobs to {told}, where storage `checkpoints` is"]
    )


def test_store_that_nobody_asks_for_needs_no_way() -> None:
    """The cluster offers it, and no job goes there."""
    changes = {**store("https://s3.corp.internal:9000"), NLP: {"storage": {"checkpoints": None}}}

    assert messages("isolation/bucket-without-egress", changes) == []


def test_bucket_of_one_name_in_two_stores_is_two() -> None:
    """What is shared is a bucket of one endpoint."""
    other = {
        "endpoint": "https://s3.corp.internal:8443",
        "secretStore": "vault",
        "path": "ml/other",
    }
    changes = {
        CLUSTER: {"storage": {"models": {"s3": other}}},
        VISION: {"storage": {"models": "nlp-checkpoints"}},
    }

    assert messages("isolation/bucket-of-two-teams", changes) == []


def test_bucket_of_one_store_by_two_names_is_one() -> None:
    """A second entry for the same endpoint makes no second bucket."""
    same = {"endpoint": "https://s3.corp.internal", "secretStore": "vault", "path": "ml/other"}
    changes = {
        CLUSTER: {"storage": {"models": {"s3": same}}},
        VISION: {"storage": {"models": "nlp-checkpoints"}},
    }

    assert len(messages("isolation/bucket-of-two-teams", changes)) == 1


def test_spaces_of_a_team_may_share_a_bucket() -> None:
    """They are one team's, on the same queues."""
    changes = {NLP: {"spaces": {"interactive": {"storage": {"checkpoints": "nlp-checkpoints"}}}}}

    assert messages("isolation/bucket-of-two-teams", changes) == []
