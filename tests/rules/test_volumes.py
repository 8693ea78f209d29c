"""PersistentVolumes that claims adopt."""

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


def test_volume_of_trainyard_is_not_adopted() -> None:
    """The claim of its own comes first, whichever team is first by name."""
    assert messages(RULE, {NLP: adopting("prod-east-vision-home")}) == [
        (
            "volume `prod-east-vision-home` is used by claim `home` in team-vision and claim "
            "`imagenet` in team-nlp"
        )
    ]


def test_spaces_of_a_team_do_not_share_a_volume() -> None:
    changes = {NLP: adopting("pvc-1") | {"spaces": {"interactive": adopting("pvc-1")}}}

    assert messages(RULE, changes) == [
        (
            "volume `pvc-1` is used by claim `imagenet` in team-nlp and claim `imagenet` in "
            "team-nlp-interactive"
        )
    ]


def test_volume_of_two_storage_entries_is_reported() -> None:
    """Each entry of the cluster makes a claim of its own."""
    changes = {
        CLUSTER: {"storage": {"models": {"adopted": {"class": "trainyard-adopted"}}}},
        NLP: {
            "storage": {
                "imagenet": {"volume": "pvc-1", "size": "1Ti"},
                "models": {"volume": "pvc-1", "size": "1Ti"},
            }
        },
    }

    assert len(messages(RULE, changes)) == 1


def test_claims_of_a_storage_class_share_no_volume() -> None:
    assert messages(RULE, {"teams/vision.yaml": {"storage": {"scratch": "1Ti"}}}) == []
