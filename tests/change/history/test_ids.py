"""User ids of namespaces from one committed tree to the next, beside the cases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.rules.cases import messages, replacements
from trainyard.change.history.check import check_replacement
from trainyard.diagnostics import Diagnostic
from trainyard.model.ids import Ids
from trainyard.rules.change._fixes import NEVER_MERGED

OPENSHIFTS = {"range": "1000680000/10000", "level": "s0:c26,c15"}
FRESH = {"range": "2000000000/10000", "level": "s0:c1001,c0"}
NEXT = {"range": "2000010000/10000", "level": "s0:c1001,c1"}
DRAINING: dict[str, Any] = {"teams/nlp.yaml": {"state": "draining"}}


def _ledger(**namespaces: dict[str, str]) -> dict[str, Any]:
    named = {f"team-{name.replace('_', '-')}": line for name, line in namespaces.items()}
    return {"allocations.yaml": {"prod-east": {"uids": named}}}


def _found(after: dict[str, Any], before: dict[str, Any]) -> list[Diagnostic]:
    return [
        each
        for replacement in replacements(before, after)
        for each in check_replacement(replacement)
    ]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            _ledger(nlp=FRESH),
            {},
            "ids 2000000000/10000 and level s0:c1001,c0, and its line in the ledger is gone",
        ),
        ({}, _ledger(nlp=FRESH), "has ids from OpenShift, and would get ids 2000000000/10000"),
        (
            _ledger(nlp=FRESH),
            _ledger(nlp={**FRESH, "level": "s0:c1001,c7"}),
            "would get ids 2000000000/10000 and level s0",
        ),
        (
            _ledger(nlp=OPENSHIFTS),
            _ledger(nlp={**OPENSHIFTS, "range": "1000690000/10000"}),
            "would get ids 1000690000",
        ),
    ],
    ids=["line-removed", "new-range", "level", "another-of-openshift"],
)
def test_ids_of_a_namespace_whose_jobs_may_run_stay(
    before: dict[str, Any], after: dict[str, Any], words: str
) -> None:
    """Each of these would make the namespace's files unreadable; a drained team's namespace may get
    other ids, but keeps a line."""
    (found,) = _found(after, before)
    assert found.rule == "change/uids-moved"
    assert words in found.message
    drained = _found({**after, **DRAINING}, {**before, **DRAINING})
    assert drained == ([found] if "line" in words else [])


def test_ids_are_adopted_and_then_stay() -> None:
    """What OpenShift gave is written down in one merge; the next may not change it, and a day may
    be added."""
    adopted = _ledger(nlp=OPENSHIFTS)
    assert _found(adopted, {}) == []
    assert _found(_ledger(nlp={**OPENSHIFTS, "since": "2026-11-22"}), adopted) == []
    assert [each.rule for each in _found({}, adopted)] == ["change/uids-moved"]


def test_help_on_a_lost_line_covers_one_that_was_never_merged() -> None:
    """A typo in the namespace of a new line must not have to stay for good."""
    (found,) = _found(_ledger(nlp=FRESH), _ledger(nlp=FRESH, nlq=NEXT))
    assert found.rule == "change/uids-moved"
    assert "namespace `team-nlq`" in found.message
    assert found.hint.endswith(NEVER_MERGED)


LANGUAGE: dict[str, Any] = {
    "renamedFrom": "nlp",
    "contact": "nlp@example.com",
    "groups": {"user": ["nlp"]},
    "runtimes": ["openmpi-cuda"],
    "quota": {"prod-east": {"dgx-h100": {"nodes": 4}}},
}


def test_help_on_a_line_that_a_rename_lost_adds_it_under_the_new_name() -> None:
    """No line has the former name any more."""
    after = {
        "teams/nlp.yaml": None,
        "teams/language.yaml": LANGUAGE,
        "allocations.yaml": {"prod-east": {"ib": {"nlp": None}}},
    }
    gone = [each for each in _found(after, _ledger(nlp=FRESH)) if "is gone" in each.message]

    assert [each.hint.partition(":")[0] for each in gone] == [
        "Add `language",
        "Add `team-language",
    ]


def test_new_namespace_gets_its_ids_with_its_first_merge() -> None:
    """A namespace that is not in the committed tree has no files yet."""
    space: dict[str, Any] = {"teams/nlp.yaml": {"spaces": {"debug": {}}}}
    assert _found({**space, **_ledger(nlp_debug=FRESH)}, {}) == []


@pytest.mark.parametrize("field", ["range", "level", "reordered level"])
def test_ids_that_were_given_long_ago_are_not_given_again(field: str) -> None:
    """A retired team's namespace is remembered by the lockfile alone; range and level each
    count."""
    newcomer = {"teams/nlp.yaml": {"spaces": {"debug": {}}}, **_ledger(nlp_debug=NEXT)}
    (replacement,) = replacements({}, newcomer)
    was = Ids("team-audio", 2_000_010_000, "s0:c1001,c9", "2026-03-01", former=True)
    if field != "range":
        was = replace(
            was, first=2_000_090_000, level="s0:c1001,c1" if field == "level" else "s0:c1,c1001"
        )
        field = "level"
    (found,) = check_replacement(replace(replacement, ids=(was,)))

    assert found.rule == "change/uids-given-away"
    assert found.at.path == ("prod-east", "uids", "team-nlp-debug", field)
    assert found.message == (
        f"namespace `team-nlp-debug` would get {field} {NEXT[field]}, which namespace `team-audio` "
        "was given"
    )
    assert [note.message for note in found.notes] == [
        f"the lockfile remembers that `team-audio` was given {was.range} on 2026-03-01"
    ]


def test_namespace_gets_its_own_former_ids_back() -> None:
    """A revert of a move is not a gift; nor is a line that stays."""
    (replacement,) = replacements(
        {**DRAINING, **_ledger(nlp=NEXT)}, {**DRAINING, **_ledger(nlp=FRESH)}
    )
    own = Ids("team-nlp", 2_000_000_000, "s0:c1001,c0", former=True)
    assert list(check_replacement(replace(replacement, ids=(*replacement.ids, own)))) == []

    (replacement,) = replacements(_ledger(nlp=FRESH), _ledger(nlp=FRESH))
    twin = replace(own, namespace="team-audio")
    assert list(check_replacement(replace(replacement, ids=(*replacement.ids, twin)))) == []


def test_former_ids_without_a_day_are_told_without_one() -> None:
    """An adopted range says no day."""
    (replacement,) = replacements(
        {}, {"teams/nlp.yaml": {"spaces": {"debug": {}}}, **_ledger(nlp_debug=NEXT)}
    )
    was = Ids("team-audio", 2_000_010_000, "s0:c1001,c1", former=True)
    (found,) = check_replacement(replace(replacement, ids=(was,)))
    assert "range 2000010000/10000 and level s0:c1001,c1" in found.message
    assert [note.message for note in found.notes] == [
        "the lockfile remembers that `team-audio` was given 2000010000/10000"
    ]


@pytest.mark.parametrize("level", ["s0:c1001,c0", "s0:c0,c1001"])
def test_namespaces_with_the_same_level_are_reported(level: str) -> None:
    """SELinux compares only levels, and ignores the order of their categories."""
    shared = _ledger(nlp=FRESH, vision={**NEXT, "level": level})
    assert messages("isolation/uids-shared", shared) == [
        f"namespaces `team-nlp` and `team-vision` of cluster `prod-east` both have level {level}"
    ]


def test_level_is_the_same_in_either_order() -> None:
    """For SELinux `c0,c1001` and `c1001,c0` are the same level."""
    turned = {**NEXT, "level": "s0:c0,c1001"}
    assert messages("isolation/uids-shared", _ledger(nlp=FRESH, vision=turned)) == [
        "namespaces `team-nlp` and `team-vision` of cluster `prod-east` both have level s0:c0,c1001"
    ]
    newcomer = {"teams/nlp.yaml": {"spaces": {"debug": {}}}, **_ledger(nlp_debug=turned)}
    (replacement,) = replacements({}, newcomer)
    was = Ids("team-audio", 2_000_000_000, FRESH["level"], former=True)
    (found,) = check_replacement(replace(replacement, ids=(was,)))
    assert (found.rule, found.at.path[-1]) == ("change/uids-given-away", "level")
