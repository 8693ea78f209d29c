"""What a job lacks of its queue's quota, with the profile's line that limits it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import groupby
from operator import attrgetter

from trainyard.model.quantity import format_amount
from trainyard.model.team import Quota
from trainyard_jobs.fit.assignment import Choice, Queueing, Shortage, requests_of
from trainyard_jobs.fit.case import Case
from trainyard_jobs.fit.cohorts import Amount
from trainyard_jobs.fit.verdict import Check, Link, Standing

WAIT = "wait until running jobs end"
"""What helps a job that would start on the empty cluster."""


def quota_checks(
    case: Case,
    queueing: Queueing,
    choices: Sequence[Choice],
    short: Sequence[Shortage],
    standing: Standing,
) -> Iterator[Check]:
    """Yield one answer for each flavor: of its GPUs, else of the resource that lacks most."""
    total = requests_of(choices)

    def rank(shortage: Shortage) -> tuple[bool, Fraction]:
        flavor, resource = shortage.amount
        gpu = queueing.flavors[flavor].hardware.gpu
        is_other = gpu is None or resource != gpu.resource
        return is_other, Fraction(shortage.limit, total[shortage.amount])

    by_amount = sorted(short, key=attrgetter("amount"))
    for _, of_flavor in groupby(by_amount, key=lambda shortage: shortage.amount[0]):
        worst = min(of_flavor, key=rank).amount
        yield _shortage(case, queueing, worst, total[worst], standing)


def _shortage(
    case: Case, queueing: Queueing, key: Amount, requested: int, standing: Standing
) -> Check:
    flavor, resource = key
    cohorts, queue = queueing.cohorts, queueing.queue
    most, nominal = cohorts.potential(queue, key), cohorts.nominal(queue, key)
    never = standing is Standing.NEVER
    known = case.ground.snapshot is not None
    quota = next(own.quota for own in case.ground.tenant.flavors if own.name == flavor)
    return Check(
        Link.QUOTA,
        standing,
        f"requested {_shown(key, requested)} ({by_pods(case, resource)}) on {flavor}, "
        + ("more than the queue can ever use" if never else "more than is free now"),
        quota.place,
        limit=f"{_shown(key, most)}, {_shown(key, nominal)} of its own",
        usage=_shown(key, cohorts.used(queue, key)) if known else "",
        available=_shown(key, max(0, cohorts.available(queue, key))) if known else "",
        repair=(_more(quota) if never else WAIT,),
    )


def _more(quota: Quota) -> str:
    """Return how a team gets more of a quota."""
    if quota.is_share:
        return "a share is one job; for larger jobs ask for `nodes` of a pool of whole nodes"
    return "ask for more `nodes` or `borrow` in the line of the quota"


def _shown(key: Amount, amount: int) -> str:
    return f"{format_amount(key[1], amount)} {key[1]}"


def by_pods(case: Case, resource: str) -> str:
    """Return how an amount comes about, e.g. ``node 3 x 8, launcher 1 x 8``."""
    parts = []
    for pods in case.pods:
        # Kueue counts each pod once against a quota of pods.
        amount = 1 if resource == "pods" else pods.requests.get(resource, 0)
        if amount:
            parts.append(f"{pods.role} {pods.count} x {format_amount(resource, amount)}")
    return ", ".join(parts)
