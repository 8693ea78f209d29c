"""Rules tell the truth: what they say happens is seen to happen, or it is said why it can't be."""

from __future__ import annotations

import pytest

from generator.rulebook import all_rules
from tests.e2e.seen import FAMILIES, NOT_SHOWABLE, SEEN, WRITTEN, Seen
from tests.e2e.stage import Stage


def test_every_rule_is_in_one_list() -> None:
    """Each rule of these families is in exactly one list, and no list has one that is not there."""
    listed = [*SEEN, *WRITTEN, *NOT_SHOWABLE]

    assert sorted(listed) == sorted(rule.id for rule in all_rules() if rule.id.partition("/")[0] in FAMILIES)


@pytest.mark.parametrize("reason", NOT_SHOWABLE.values())
def test_reason_is_a_sentence(reason: str) -> None:
    """Who reads the list learns why."""
    assert reason.endswith(".")


ALL = SEEN | WRITTEN


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("ground", "seen"), [(each.ground, each) for each in ALL.values()], indirect=["ground"], ids=ALL
)
def test_consequence_is_seen(ground: Stage, seen: Seen) -> None:
    """On the bad tree, with the rule switched off, what the rule says happens."""
    seen.scenario(ground)
