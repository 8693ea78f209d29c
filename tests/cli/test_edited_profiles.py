"""What a change edits in profiles is said with both values, whatever else it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.change.test_approval import found
from trainyard.change.review import Approval
from trainyard.cli.impact.markdown import _bounded
from trainyard.cli.impact.profiles import profiles
from trainyard.model.differences import Difference

CLUSTER, NLP, VISION = "clusters/prod-east.yaml", "teams/nlp.yaml", "teams/vision.yaml"


def told(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    section = profiles(tuple(found(before, after).values()))
    return list(section.lines) if section else []


def test_same_profiles_are_not_told() -> None:
    assert told({}, {}) == []


def test_fields_without_an_effect_are_told_beside_one_with_an_effect() -> None:
    attested = {CLUSTER: {"networks": {"encrypted": True}, "server": "https://x.example.com"}}
    weaker = {CLUSTER: {"networks": {"encrypted": None}, "server": "https://y.example.com"}}

    assert told(attested, weaker) == [
        f"~ {CLUSTER}",
        "  networks.encrypted true -> none",
        "  server https://x.example.com -> https://y.example.com",
    ]


def test_the_same_edit_of_several_teams_is_told_once() -> None:
    due = {name: {"costCenter": "RES-1"} for name in (NLP, VISION)}

    assert told({}, due) == [f"~ {NLP}, {VISION}: costCenter none -> RES-1"]


def test_profile_that_comes_or_goes_is_told_as_such() -> None:
    new = Approval("profiles/teams/x.yaml", (), "created")
    gone = Approval("profiles/runtimes/y.yaml", (), "deleted")
    section = profiles((new, gone))

    assert section is not None
    assert section.lines == (
        "+ profiles/teams/x.yaml is created",
        "- profiles/runtimes/y.yaml is deleted",
    )


def test_file_that_was_empty_is_not_new() -> None:
    waiver = {"rule": "capacity/idle-nodes", "file": "profiles/clusters/prod-east.yaml"}
    waived = {**waiver, "reason": "they come", "owner": "us", "expires": "2027-01-01"}
    (line,) = told({"waivers.yaml": {"waivers": None}}, {"waivers.yaml": {"waivers": [waived]}})
    assert line.startswith('~ waivers.yaml: waivers null -> [{"expires": "2027-01-01", ')


def test_many_edits_do_not_fill_a_comment() -> None:
    edits = tuple(Difference(f"field-{number}", None, number) for number in range(2000))
    section = profiles((Approval("profiles/a.yaml", (), "changed", edits),))
    assert section is not None

    shown = _bounded(section.lines)

    assert len("\n".join(shown).encode()) < 9_000
    assert shown[-1] == (
        f"  and {len(section.lines) - len(shown) + 1} more lines, which `trainyard diff` prints"
    )
    assert _bounded(section.lines[:3]) == list(section.lines[:3])


@given(st.dictionaries(st.text("abc", min_size=1), st.tuples(st.integers(), st.integers())))
def test_no_edit_is_left_out(values: dict[str, tuple[int, int]]) -> None:
    edits = tuple(Difference(path, *both) for path, both in values.items())
    section = profiles((Approval("profiles/a.yaml", (), "changed", edits),))
    text = "\n".join(section.lines) if section else ""

    for edit in edits:
        assert f"{edit.path} {edit.old} -> {edit.new}" in text
