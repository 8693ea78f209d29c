"""Judge TrainJobs: each link from the form of a job to its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from trainyard.model.admission import Answer
from trainyard_jobs.fit.case import Case, Ground, case_of
from trainyard_jobs.fit.claims import claim_checks
from trainyard_jobs.fit.queueing import queue_checks
from trainyard_jobs.fit.refusals import object_quota_checks, policy_checks
from trainyard_jobs.fit.resources import resource_checks
from trainyard_jobs.fit.verdict import Check, Link, Verdict

_ORDER = list(Link)


@dataclass(frozen=True, slots=True)
class Judged:
    """A job with its verdict."""

    case: Case
    verdict: Verdict


def judge(ground: Ground, jobs: Sequence[dict[str, Any]]) -> list[Judged]:
    """Return the verdict about each job, as if it were the only one that is submitted.

    Args:
        ground: the cluster.
        jobs: TrainJobs as their users wrote them.

    Raises:
        ToolError: the evaluator fails.
    """
    cases = [case_of(ground, job) for job in jobs]
    return [
        Judged(case, _verdict(case, answers))
        for case, answers in zip(cases, _answers(ground, cases), strict=True)
    ]


def _answers(ground: Ground, cases: Sequence[Case]) -> Iterator[Sequence[Answer]]:
    """Yield the admission plugins' answers to the requests of each job; all are asked at once."""
    requests = [case.requests() for case in cases]
    answers = iter(ground.judge(list(chain.from_iterable(requests))) if ground.judge else ())
    for asked in requests:
        yield list(islice(answers, len(asked)))


def _verdict(case: Case, answers: Sequence[Answer]) -> Verdict:
    checks: list[Check] = list(case.checks)
    if case.is_formed:
        checks += policy_checks(case, answers)
        if case.runtime is not None:
            checks += resource_checks(case)
            checks += object_quota_checks(case)
            checks += queue_checks(case)
            checks += claim_checks(case)
    checks.sort(key=lambda check: _ORDER.index(check.link))
    return Verdict(case.name, case.namespace, case.pods, tuple(dict.fromkeys(checks)))
