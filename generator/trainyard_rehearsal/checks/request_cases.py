"""Requests that the API server must accept, or refuse with given words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from trainyard.diagnostics import Pointer
from trainyard_rehearsal.control_plane.refusal import Refused
from trainyard_rehearsal.outcome import Failure, Outcome, counted

Done = TypeVar("Done")

_AT_ONCE = 4
_POLICY_ERROR = "resulted in error"
"""Part of the API server's message when an expression of a policy fails."""

_POLICY = "ValidatingAdmissionPolicy"
_INVALID = (400, 422)
"""Status codes of schemas and webhooks, which judge a request before the policies."""

DryRun = Callable[[], object]
"""Sends a request as a dry run."""


@dataclass(frozen=True, slots=True)
class RequestCase:
    """A request with its expected answer.

    Args:
        display: the request, for messages.
        refusal: part of the expected refusal; empty when the request must be accepted.
    """

    display: str
    request: DryRun
    at: Pointer
    refusal: str = ""


class RequestTally:
    """Sends requests, and counts those that are answered as expected."""

    def __init__(self) -> None:
        self.tried = 0
        self.earlier = 0
        self.failures: list[Failure] = []

    def send(self, cases: Iterable[RequestCase]) -> None:
        """Send requests.

        A refusal by a schema or a webhook counts as well, since they precede the policies.
        """
        sent = list(cases)
        answers = at_once(partial(refusal_of, case.request) for case in sent)
        for case, refused in zip(sent, answers, strict=True):
            self._count(case, refused)
        self.tried += len(sent)

    def _count(self, case: RequestCase, refused: Refused | None) -> None:
        answer = str(refused or "let through")
        if case.refusal and refused and _is_before_policies(refused):
            self.earlier += 1
        elif not _is_expected(case, refused):
            self.failures.append(Failure(case.display, answer, case.at))

    def outcome(self, promise: str) -> Outcome:
        """Return the outcome of all requests so far."""
        remark = (
            f"{self.earlier} of them by schemas and webhooks, before the policies"
            if self.earlier
            else ""
        )
        return counted(promise, self.tried, self.failures, remark)


def _is_before_policies(refused: Refused) -> bool:
    """Return whether a schema or a webhook refused a request."""
    return refused.status in _INVALID and _POLICY not in str(refused)


def _is_expected(case: RequestCase, refused: Refused | None) -> bool:
    if not case.refusal:
        return refused is None
    answer = str(refused or "")
    return case.refusal in answer and _POLICY_ERROR not in answer


def refusal_of(request: DryRun) -> Refused | None:
    """Return why the API server refuses a request; nothing when it accepts the request."""
    try:
        request()
    except Refused as refused:
        return refused
    return None


def at_once(requests: Iterable[Callable[[], Done]]) -> list[Done]:
    """Make requests that change nothing, some at a time; return their results in order."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda request: request(), requests))
