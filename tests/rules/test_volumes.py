"""Volumes that claims adopt."""

from __future__ import annotations

from typing import Any

from tests.rules.cases import messages

RULE = "references/volume-claimed-twice"
NLP = "teams/nlp.yaml"
CLUSTER = "clusters/prod-east.yaml"


def adopting(volume: str, *entries: str) -> dict[str, Any]:
    return {
        "storage": {each: {"volume": volume, "size": "20Ti"} for each in entries or ("imagenet",)}
    }


def test_volume_that_trainyard_makes_is_not_adopted() -> None:
    """It is behind the claim that it was made for, whichever team comes first by name."""
    assert messages(RULE, {NLP: adopting("prod-east-vision-home")}) == [
        (
            "volume `prod-east-vision-home` is behind claim `home` in team-vision and claim `imagenet` "
            "in team-nlp"
        )
    ]


def test_spaces_of_a_team_do_not_share_a_volume() -> None:
    """A claim is of one namespace, and its volume of one claim."""
    changes = {NLP: adopting("pvc-1") | {"spaces": {"interactive": adopting("pvc-1")}}}

    assert messages(RULE, changes) == [
        (
            "volume `pvc-1` is behind claim `imagenet` in team-nlp and claim `imagenet` in "
            "team-nlp-interactive"
        )
    ]


def test_one_claim_of_two_entries_is_told() -> None:
    """A second entry of the cluster makes a second claim."""
    changes = {
        CLUSTER: {"storage": {"models": {"adopted": {"class": "cephfs"}}}},
        NLP: {
            "storage": {
                "imagenet": {"volume": "pvc-1", "size": "1Ti"},
                "models": {"volume": "pvc-1", "size": "1Ti"},
            }
        },
    }

    assert len(messages(RULE, changes)) == 1


def test_claim_whose_class_makes_the_volume_shares_none() -> None:
    """No volume is named, and the two are different ones."""
    assert messages(RULE, {"teams/vision.yaml": {"storage": {"scratch": "1Ti"}}}) == []
