"""Find weights of cohorts that Kueue does not read."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.cluster import Cluster, Cohort
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/weight-without-effect",
    severity=Severity.WARNING,
    summary="A cohort has a weight only with fair sharing, and below a parent.",
    why="""
        The weight has no effect, and whoever comes first borrows first. Kueue ignores weights
        unless fair sharing is on (seen with Kueue 0.19.2). It compares a cohort with its siblings,
        and the share of one without a parent is always 0
        (kubernetes-sigs/kueue:pkg/cache/scheduler/fair_sharing.go@v0.16.2 and @v0.19.2).
    """,
    fix="Remove the weight, or set `sharing: fair` and give the cohort a `parent`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for cohort in site.cluster.cohorts:
            if cohort.weight != 1 and (missing := _missing(site.cluster, cohort)):
                message = f"cohort `{cohort.name}` has weight {cohort.weight}, but {missing}"
                notes = [Note("`sharing` is set here", site.cluster.at / "sharing")]
                yield RULE.at(cohort.at / "weight", message, notes=notes)


def _missing(cluster: Cluster, cohort: Cohort) -> str:
    """Return what a weight needs and a cohort lacks; empty for nothing."""
    if cluster.sharing != "fair":
        return f"sharing is {cluster.sharing}"
    return "" if cohort.parent else "no parent"


CHECK = Check(RULE, find)
