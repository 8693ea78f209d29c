"""Egress rules to object stores, and buckets of two teams."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import messages

CLUSTER, NLP, VISION = "clusters/prod-east.yaml", "teams/nlp.yaml", "teams/vision.yaml"


def store(endpoint: str, **egress: Any) -> dict[str, Any]:
    """Return changes of the base's object store and of the egress rule to it."""
    s3 = {"endpoint": endpoint, "secretStore": "vault", "path": "ml/teams"}
    return {CLUSTER: {"storage": {"checkpoints": {"s3": s3}}, "egress": {"object-store": egress}}}


@pytest.mark.parametrize(
    ("endpoint", "egress", "unreachable"),
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
def test_egress_rule_lets_jobs_reach_the_store(
    endpoint: str, egress: dict[str, Any], unreachable: str | None
) -> None:
    """A store outside the cluster needs addresses and its port, one inside needs its namespace."""
    message = f"no egress rule lets jobs reach {unreachable}, the address of storage `checkpoints`"
    found = messages("isolation/bucket-without-egress", store(endpoint, **egress))

    assert found == ([] if unreachable is None else [message])


def test_store_without_buckets_of_teams_needs_no_egress_rule() -> None:
    """No job connects to the store."""
    changes = {**store("https://s3.corp.internal:9000"), NLP: {"storage": {"checkpoints": None}}}

    assert messages("isolation/bucket-without-egress", changes) == []


def test_buckets_of_the_same_name_in_two_stores_are_different() -> None:
    """Two teams share a bucket only if its endpoint is the same too."""
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


def test_bucket_in_two_entries_of_one_store_is_the_same() -> None:
    """Two storage entries with the same endpoint are one store."""
    same = {"endpoint": "https://s3.corp.internal", "secretStore": "vault", "path": "ml/other"}
    changes = {
        CLUSTER: {"storage": {"models": {"s3": same}}},
        VISION: {"storage": {"models": "nlp-checkpoints"}},
    }

    assert len(messages("isolation/bucket-of-two-teams", changes)) == 1


def test_spaces_of_a_team_may_share_a_bucket() -> None:
    changes = {NLP: {"spaces": {"interactive": {"storage": {"checkpoints": "nlp-checkpoints"}}}}}

    assert messages("isolation/bucket-of-two-teams", changes) == []
