"""Names in lines: the first ones, and with `--fields` every one; equal lines of many teams once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.change.impact.platforms import NLP, quota, sides
from trainyard.change.impact.access import AccessChange, BoundRole
from trainyard.change.impact.model import ClusterImpact
from trainyard.change.impact.network import PathChange
from trainyard.change.impact.quotas import QuotaChange, quota_changes
from trainyard.cli.impact.sections import sections

SPACES = tuple(f"team-{letter}" for letter in "abcde")
FEW, EVERY = "team-a, team-b, team-c and 2 more", "team-a, team-b, team-c, team-d, team-e"


def lines(impact: ClusterImpact, *, fields: bool) -> list[str]:
    return [line for section in sections(impact, fields=fields) for line in section.lines]


@pytest.mark.parametrize(("fields", "names"), [(False, FEW), (True, EVERY)])
def test_fields_name_every_namespace(fields: bool, names: str) -> None:
    impact = ClusterImpact(
        "lab",
        "changed",
        access=(AccessChange("group x", (BoundRole("view", SPACES),), ()),),
        network=(PathChange(SPACES, opened=True, path="egress to 203.0.113.0/28"),),
    )

    assert lines(impact, fields=fields) == [
        f"+ group x: view in {names}",
        f"+ {names}: egress to 203.0.113.0/28",
    ]


def _changes(*teams: str) -> tuple[QuotaChange, ...]:
    (change, *_) = quota_changes(sides({}, {NLP: quota(3)}))
    return tuple(replace(change, team=team) for team in teams)


def test_equal_changes_of_many_teams_are_one_line() -> None:
    """A team with another change has its own, where the first of them would be."""
    alone = replace(_changes("c")[0], pool="other")
    many = ClusterImpact("lab", "changed", quotas=(*_changes("a", "b"), alone, *_changes(*"def")))
    one, other = lines(many, fields=False)

    assert one.startswith("~ a, b, d and 2 more on dgx-h100: 4 -> 3 nodes")
    assert other.startswith("~ c on other: 4 -> 3 nodes")
    assert lines(many, fields=True)[0].startswith("~ a, b, d, e, f on dgx-h100: 4 -> 3 nodes")


def test_equal_changes_of_three_teams_have_a_line_each() -> None:
    few = ClusterImpact("lab", "changed", quotas=_changes(*"abc"))

    assert [line.partition(" on ")[0] for line in lines(few, fields=False)] == ["~ a", "~ b", "~ c"]
