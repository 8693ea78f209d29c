"""Rules tell the truth: what they say happens is seen to happen, or it is said why it can't be."""

from __future__ import annotations

import re

import pytest

from tests.e2e.seen import FAMILIES, NOT_SHOWABLE, SEEN, Seen
from tests.e2e.stage import Stage
from trainyard.rulebook import all_rules
from trainyard_rehearsal.control_plane.components import read_components

_PROGRAMS = {
    "Argo CD": "argocd",
    "JobSet": "jobset",
    "Kueue": "kueue",
    "Kubernetes": "kubectl",
    "Trainer": "trainer",
}
_SEEN_WITH = re.compile(rf"seen with[^();]*?({'|'.join(_PROGRAMS)}) (\d[.\d]*\d)")
RULES = {rule.id: rule for rule in all_rules() if rule.id.partition("/")[0] in FAMILIES}


def test_every_rule_is_in_one_list() -> None:
    """Each rule of these families is in exactly one list, and no list has one that is not there."""
    listed = [*SEEN, *NOT_SHOWABLE]

    assert sorted(listed) == sorted(RULES)


def test_pages_say_what_was_seen() -> None:
    """The words of a rule name a controller that it was seen with exactly where a scenario sees
    it."""
    assert {name for name, rule in RULES.items() if _SEEN_WITH.search(rule.why)} == set(SEEN)


@pytest.mark.parametrize(
    ("controller", "version"),
    sorted({found for rule in RULES.values() for found in _SEEN_WITH.findall(rule.why)}),
)
def test_witness_runs_here(controller: str, version: str) -> None:
    """A controller in a rule's words is one of a release, in that version."""
    releases = ("kubernetes-1.36", "openshift-ai-3.5")
    assert version in {
        read_components(each).programs[_PROGRAMS[controller]].version for each in releases
    }


@pytest.mark.parametrize("reason", NOT_SHOWABLE.values())
def test_reason_is_a_sentence(reason: str) -> None:
    """Who reads the list learns why."""
    assert reason.endswith(".")


@pytest.mark.e2e
@pytest.mark.parametrize(
    # Without the scope the ground would be a new one for each test.
    ("ground", "seen"),
    [(each.ground, each) for each in SEEN.values()],
    indirect=["ground"],
    ids=SEEN,
    scope="session",
)
def test_consequence_is_seen(ground: Stage, seen: Seen) -> None:
    """On the bad tree, with the rule switched off, what the rule says happens."""
    seen.scenario(ground)
