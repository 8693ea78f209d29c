"""Who may borrow from whom."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._walk import holdings

_NO_LIMITS = (
    "Kueue takes no limits without a cohort (`borrowingLimit must be nil when cohort is empty`, seen with Kueue"
    " 0.16.2), so Trainyard writes none: the team"
)

BORROW_WITHOUT_COHORT = Rule(
    id="scheduling/borrow-without-cohort",
    severity=Severity.ERROR,
    summary="A team that borrows is in a cohort.",
    why=f"{_NO_LIMITS} never gets more than its own nodes.",
    fix="Give the team a `cohort`, or take `borrow` away.",
)
LEND_WITHOUT_COHORT = Rule(
    id="scheduling/lend-without-cohort",
    severity=Severity.ERROR,
    summary="A team that lends is in a cohort.",
    why=f"{_NO_LIMITS} lends nothing, and what it does not use stands idle.",
    fix="Give the team a `cohort`, or take `lend` away.",
)
LEND_MORE_THAN_OWNED = Rule(
    id="scheduling/lend-more-than-owned",
    severity=Severity.ERROR,
    summary="A team lends no more nodes than it owns.",
    why="The ClusterQueue is refused: `must be less than or equal to the nominalQuota` (seen with Kueue 0.19.2).",
    fix="Lower `lend`, or write `all`.",
)
COHORT_CYCLE = Rule(
    id="scheduling/cohort-cycle",
    severity=Severity.ERROR,
    summary="No cohort descends from itself.",
    why=(
        "No queue of the cycle admits a job until it is broken: `ClusterQueue <queue> is inactive` (seen with Kueue"
        " 0.19.2)."
    ),
    fix="Take one `parent` away.",
)
EMPTY_COHORT = Rule(
    id="scheduling/empty-cohort",
    severity=Severity.WARNING,
    summary="Some team is in each cohort, or in one below it.",
    why="Nothing is lent or borrowed there: often a team's `cohort` names another one by mistake.",
    fix="Put a team into it, or remove it.",
)
JOB_ON_BORROWED_NODES = Rule(
    id="scheduling/job-on-borrowed-nodes",
    severity=Severity.WARNING,
    summary="A team's largest job fits on the nodes that it owns.",
    why=(
        "When an owner wants one node back the whole job is evicted, its own nodes included: `due to reclamation within"
        " the cohort` (seen with Kueue 0.19.2: a job of 4 own and 2 borrowed nodes was killed for one node)."
    ),
    fix="Raise `nodes`, lower `largestJob`, or have jobs of that size write checkpoints and waive this rule.",
)


def borrow_without_cohort(platform: Platform) -> Iterator[Diagnostic]:
    """Find borrowing limits of teams that are alone."""
    for team, flavors in holdings(platform):
        for quota in (flavor.quota for flavor in flavors):
            if quota.borrow and not team.cohort:
                message = (
                    f"team {team.name} may borrow {quota.told(quota.borrowed)} of pool `{quota.pool}`,"
                    " but is in no cohort"
                )
                yield BORROW_WITHOUT_COHORT.at(quota.at / "borrow", message)


def lend_without_cohort(platform: Platform) -> Iterator[Diagnostic]:
    """Find lending limits of teams that are alone."""
    for team, flavors in holdings(platform):
        for quota in (flavor.quota for flavor in flavors):
            if quota.lend and not team.cohort:
                message = f"team {team.name} lends {quota.told(quota.lent)} of pool `{quota.pool}`, but is in no cohort"
                yield LEND_WITHOUT_COHORT.at(quota.at / "lend", message)


def lend_more_than_owned(platform: Platform) -> Iterator[Diagnostic]:
    """Compare each lending limit with what is owned."""
    for team, flavors in holdings(platform):
        for quota in (flavor.quota for flavor in flavors):
            if quota.lend > quota.nodes:
                message = f"team {team.name} lends {quota.told(quota.lent)} of pool `{quota.pool}` and owns {quota.own}"
                yield LEND_MORE_THAN_OWNED.at(quota.at / "lend", message)


def cohort_cycle(platform: Platform) -> Iterator[Diagnostic]:
    """Report each cycle once, at its first cohort by name."""
    for site in platform.sites:
        known = {cohort.name: cohort for cohort in site.cluster.cohorts}
        for cohort in site.cluster.cohorts:
            line = site.cluster.lineage(cohort.name)
            closed = known[line[-1]].parent == cohort.name
            if closed and cohort.name == min(line):
                message = f"cohort `{cohort.name}` descends from itself: {' > '.join((*line, cohort.name))}"
                notes = [Note(f"the parent of `{name}`", known[name].at / "parent") for name in line[1:]]
                yield COHORT_CYCLE.at(cohort.at / "parent", message, notes=notes)


def empty_cohort(platform: Platform) -> Iterator[Diagnostic]:
    """Find cohorts that no team is in or below."""
    for site in platform.sites:
        taken = {tenant.team.cohort for tenant in site.tenants if tenant.team.cohort}
        used = {name for cohort in taken for name in site.cluster.lineage(cohort)}
        for cohort in site.cluster.cohorts:
            if cohort.name not in used:
                yield EMPTY_COHORT.at(cohort.at.key(), f"no team is in cohort `{cohort.name}` or below it")


def job_on_borrowed_nodes(platform: Platform) -> Iterator[Diagnostic]:
    """Compare the largest job with the pool that the team owns most of, when some pool can be reached with it."""
    for team, flavors in holdings(platform):
        most = max((flavor.quota for flavor in flavors), key=lambda each: each.nodes)
        reach = max(flavor.quota.reach for flavor in flavors)
        # In parts of a node a job is as large as quota lets it be.
        largest = min(Fraction(team.largest_job), reach) if most.is_share else Fraction(team.largest_job)
        if most.nodes < largest <= reach:
            units = int(largest * most.per_node)
            message = (
                f"the largest job of team {team.name} takes {most.told(units)}, of which it owns {most.own}"
                f" and borrows {units - most.own}"
            )
            at = most.at / "borrow" if most.is_share else team.largest_job_at
            yield JOB_ON_BORROWED_NODES.at(at, message)


CHECKS = (
    Check(BORROW_WITHOUT_COHORT, borrow_without_cohort),
    Check(LEND_WITHOUT_COHORT, lend_without_cohort),
    Check(LEND_MORE_THAN_OWNED, lend_more_than_owned),
    Check(COHORT_CYCLE, cohort_cycle),
    Check(EMPTY_COHORT, empty_cohort, every=("teams/", "quota", "pools", "cohort", "cohorts")),
    Check(JOB_ON_BORROWED_NODES, job_on_borrowed_nodes, each=("quota", "runtimes")),
)
