"""Requests that a policy refuses, that a schema refuses first, and that are accepted."""

from __future__ import annotations

import pytest

from trainyard.diagnostics import Pointer
from trainyard_rehearsal.checks.request_cases import DryRun, RequestCase, RequestTally
from trainyard_rehearsal.control_plane.refusal import Refused

_AT = Pointer("profiles/teams/nlp.yaml")
_POLICY = "trainjobs \"x\" is forbidden: ValidatingAdmissionPolicy 'limits' denied request: "


def _answering(status: int, words: str) -> DryRun:
    def request() -> None:
        if status:
            raise Refused(status, words)

    return request


@pytest.mark.parametrize(
    ("status", "message", "held", "earlier"),
    [
        (422, f"{_POLICY}Kueue places jobs", 1, 0),
        (422, f"{_POLICY}another reason", 0, 0),
        (422, f"{_POLICY}expression 'Kueue places jobs' resulted in error: no such key", 0, 0),
        (422, 'TrainJob "x" is invalid: spec.trainer: field is immutable', 1, 1),
        (400, "admission webhook denied the request: cannot unmarshal string", 1, 1),
        (403, 'User "somebody" cannot create resource "trainjobs"', 0, 0),
        (0, "", 0, 0),
    ],
)
def test_hostile_request_holds_only_with_its_expected_refusal(
    status: int, message: str, held: int, earlier: int
) -> None:
    tally = RequestTally()
    tally.send([RequestCase("a job", _answering(status, message), _AT, "Kueue places jobs")])
    outcome = tally.outcome("refused")
    assert (outcome.held, outcome.tried, tally.earlier) == (held, 1, earlier)
    assert [failure.words for failure in outcome.failures] == (
        [] if held else [message or "let through"]
    )


@pytest.mark.parametrize(("status", "held"), [(0, 1), (422, 0), (403, 0)])
def test_harmless_request_holds_only_when_accepted(status: int, held: int) -> None:
    tally = RequestTally()
    tally.send([RequestCase("a job", _answering(status, "is invalid"), _AT)])
    outcome = tally.outcome("passed")
    assert (outcome.held, outcome.remark) == (held, "")
