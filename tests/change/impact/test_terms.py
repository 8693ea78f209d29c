"""Last days of rights on both sides of a change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.change.impact.platforms import NLP, sides
from trainyard.change.impact.compare import compare
from trainyard.change.impact.rights import TermChange, term_changes
from trainyard.change.objects import Sides
from trainyard.cli.impact.sections import sections

SHELL = "run commands in the pods of team nlp"


def debuggers(until: str, *groups: str) -> dict[str, Any]:
    return {NLP: {"debuggers": {"groups": list(groups), "until": until, "reason": "jobs hang"}}}


def mpi_jobs(until: str) -> dict[str, Any]:
    return {NLP: {"mpiJobs": {"prod-east": {"until": until}}}}


SHORT, LONG = debuggers("2027-01-31", "a", "b"), debuggers("2099-01-31", "a", "b")
OTHER = debuggers("2027-01-31", "b", "c")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, SHORT, [("group a", "", "2027-01-31"), ("group b", "", "2027-01-31")]),
        (SHORT, {}, [("group a", "2027-01-31", ""), ("group b", "2027-01-31", "")]),
        (
            SHORT,
            LONG,
            [("group a", "2027-01-31", "2099-01-31"), ("group b", "2027-01-31", "2099-01-31")],
        ),
        (SHORT, OTHER, [("group a", "2027-01-31", ""), ("group c", "", "2027-01-31")]),
        (SHORT, SHORT, []),
    ],
)
def test_each_group_has_its_last_day(
    before: dict[str, Any], after: dict[str, Any], expected: list[tuple[str, str, str]]
) -> None:
    """A revert has the same days in the other order."""
    found = term_changes(sides(before, after))
    back = term_changes(sides(after, before))

    assert list(found) == [TermChange(who, SHELL, old, new) for who, old, new in expected]
    assert list(back) == [TermChange(who, SHELL, new, old) for who, old, new in expected]


def lines(change: Sides, title: str = "Access") -> tuple[str, ...]:
    (cluster,) = compare([change], None).clusters
    found = {each.title: each.lines for each in sections(cluster, fields=False)}
    return found[title]


def test_a_longer_time_is_shown_although_no_object_differs() -> None:
    """No object has the last day of debuggers, so nothing else would show it."""
    (cluster,) = compare([sides(SHORT, LONG)], None).clusters

    assert cluster.objects == ()
    assert lines(sides(SHORT, LONG)) == (
        f"~ group a may {SHELL} until 2027-01-31 -> 2099-01-31",
        f"~ group b may {SHELL} until 2027-01-31 -> 2099-01-31",
    )


def test_who_gains_and_who_loses_the_right() -> None:
    found = lines(sides(SHORT, OTHER))

    assert f"- group a may no longer {SHELL} (was until 2027-01-31)" in found
    assert f"+ group c may {SHELL} until 2027-01-31" in found


def test_days_for_mpi_jobs() -> None:
    (line,) = lines(sides(mpi_jobs("2027-01-31"), mpi_jobs("2027-03-31")))

    assert line == "~ team nlp may create MPIJobs until 2027-01-31 -> 2027-03-31"


def test_a_team_that_leaves_or_is_unreadable() -> None:
    """Its bindings show who keeps what, and unknown old profiles show no days."""
    change = sides(SHORT, LONG)
    gone = sides(SHORT, {**LONG, NLP: {"state": "retired", "debuggers": None}})
    unreadable = Sides("prod-east", None, change.new, change.before, change.after)

    assert term_changes(gone) == ()
    assert term_changes(unreadable) == ()
    assert term_changes(Sides("prod-east", change.old, None, change.before, {})) == ()


def test_a_renamed_team_keeps_its_days() -> None:
    change = sides(SHORT, SHORT)
    assert change.new is not None
    assert change.old is not None
    (nlp,) = (each for each in change.old.tenants if each.name == "nlp")
    old = replace(change.old, tenants=(replace(nlp, team=replace(nlp.team, name="old")),))
    renamed = Sides("prod-east", old, change.new, {}, {}, {"old": "nlp"})

    assert term_changes(renamed) == ()
    assert term_changes(replace(renamed, renamed={})) != ()


def test_another_last_day_of_a_quota() -> None:
    def until(day: str) -> dict[str, Any]:
        term = {"nodes": 4, "until": day, "reason": "paper"}
        return {NLP: {"quota": {"prod-east": {"dgx-h100": term}}}}

    (line,) = lines(sides(until("2027-01-31"), until("2099-01-31")), "Quota")

    assert line == (
        "~ nlp on dgx-h100: until 2099-01-31 (paper), then 0 nodes and 4 nodes back in the pool, "
        "before until 2027-01-31 (paper), then 0 nodes"
    )
