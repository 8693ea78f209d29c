"""Find cohorts that descend from themselves."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/cohort-cycle",
    severity=Severity.ERROR,
    summary="No cohort descends from itself.",
    why="""
        No queue of the cycle admits a job until the cycle is broken: `ClusterQueue <queue> is
        inactive` (seen with Kueue 0.19.2).
    """,
    fix="Remove one `parent` of the cycle.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        known = {cohort.name: cohort for cohort in site.cluster.cohorts}
        for cohort in site.cluster.cohorts:
            line = site.cluster.lineage(cohort.name)
            closed = known[line[-1]].parent == cohort.name
            # Each cycle is reported once, at its first cohort by name.
            if closed and cohort.name == min(line):
                cycle = " > ".join((*line, cohort.name))
                message = f"cohort `{cohort.name}` descends from itself: {cycle}"
                notes = [
                    Note(f"the parent of `{name}`", known[name].at / "parent") for name in line[1:]
                ]
                yield RULE.at(cohort.at / "parent", message, notes=notes)


CHECK = Check(RULE, find)
