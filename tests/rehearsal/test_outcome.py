from __future__ import annotations

from trainyard.diagnostics import Pointer
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_AT = Pointer("profiles/teams/nlp.yaml")


def test_promise_that_was_never_tried_did_not_hold() -> None:
    assert not Outcome("sample jobs run", 0, 0).fine
    assert not counted("sample jobs run", 0, []).fine


def test_promise_that_always_held_is_fine() -> None:
    assert counted("objects accepted", 3, [], "a remark").fine


def test_failures_are_counted_by_object() -> None:
    """Two failures of one object are one promise that did not hold."""
    outcome = counted(
        "objects accepted",
        3,
        [Failure("a", "x", _AT), Failure("a", "y", _AT), Failure("b", "x", _AT)],
    )
    assert (outcome.held, outcome.tried, len(outcome.failures)) == (1, 3, 3)
    assert not outcome.fine


def test_more_failures_than_tries_are_no_negative_number() -> None:
    """After a change of one folder, each of several folders may not get synced."""
    failures = [Failure(name, "is OutOfSync", _AT) for name in "abc"]
    outcome = counted("one change renders one folder", 1, failures)

    assert (outcome.held, outcome.fine) == (0, False)
