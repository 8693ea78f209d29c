"""Refusals: by a policy with the words that were meant, before it by a schema, by its own fault, or
not at all."""

from __future__ import annotations

import pytest

from trainyard.diagnostics import Pointer
from trainyard_rehearsal.checks.request_cases import DryRun, RequestCase, RequestTally
from trainyard_rehearsal.control_plane.api import Refused

_AT = Pointer("profiles/teams/nlp.yaml")
_POLICY = "trainjobs \"x\" is forbidden: ValidatingAdmissionPolicy 'limits' denied request: "


def _answering(status: int, words: str) -> DryRun:
    def request() -> None:
        if status:
            raise Refused(status, words)

    return request


@pytest.mark.parametrize(
    ("status", "said", "held", "earlier"),
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
def test_a_hostile_request_is_refused_for_what_it_is(
    status: int, said: str, held: int, earlier: int
) -> None:
    tries = RequestTally()
    tries.send([RequestCase("a job", _answering(status, said), _AT, "Kueue places jobs")])
    outcome = tries.outcome("refused")
    assert (outcome.held, outcome.tried, tries.earlier) == (held, 1, earlier)
    assert [failure.words for failure in outcome.failures] == (
        [] if held else [said or "let through"]
    )


@pytest.mark.parametrize(("status", "held"), [(0, 1), (422, 0), (403, 0)])
def test_a_good_request_is_let_through(status: int, held: int) -> None:
    tries = RequestTally()
    tries.send([RequestCase("a job", _answering(status, "is invalid"), _AT)])
    outcome = tries.outcome("passed")
    assert (outcome.held, outcome.remark) == (held, "")
