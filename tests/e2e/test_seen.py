"""Each rule's consequence is seen to happen, or a reason is listed why it can't be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.e2e.seen import FAMILIES, NOT_SHOWABLE, SEEN, Seen
from tests.e2e.stage import Stage
from trainyard.profiles.read import releases
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


def test_every_rule_is_in_exactly_one_list() -> None:
    """The lists have each rule of these families, and no other."""
    listed = [*SEEN, *NOT_SHOWABLE]

    assert sorted(listed) == sorted(RULES)


def test_readers_are_told_how_many_were_seen() -> None:
    root = Path(__file__).resolve().parents[2]
    readme, proof = (
        root.joinpath(name).read_text("utf-8") for name in ("README.md", "docs/proof.md")
    )
    assert f"| {len(SEEN)} of {len(RULES)} |" in readme
    assert f"have {len(RULES)} rules.\nOf these, {len(SEEN)} had" in proof
    assert f"The other {len(NOT_SHOWABLE)} need" in proof


def test_rules_name_a_controller_exactly_where_a_scenario_shows_it() -> None:
    """A rule states "seen with" a controller if and only if it has a scenario."""
    assert {name for name, rule in RULES.items() if _SEEN_WITH.search(rule.why)} == set(SEEN)


@pytest.mark.parametrize(
    ("controller", "version"),
    sorted({found for rule in RULES.values() for found in _SEEN_WITH.findall(rule.why)}),
)
def test_quoted_controller_belongs_to_a_release(controller: str, version: str) -> None:
    """A rule quotes a controller in the version of one of the releases."""
    assert version in {
        read_components(each).programs[_PROGRAMS[controller]].version for each in releases()
    }


@pytest.mark.parametrize("reason", NOT_SHOWABLE.values())
def test_reason_is_a_full_sentence(reason: str) -> None:
    assert reason.endswith(".")


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.parametrize(
    # Without the scope each test would start a new control plane.
    ("stage", "seen"),
    [(each.setup, each) for each in SEEN.values()],
    indirect=["stage"],
    ids=SEEN,
    scope="session",
)
def test_consequence_is_seen(stage: Stage, seen: Seen) -> None:
    """With the rule switched off, its consequence happens on the bad tree."""
    seen.scenario(stage)
