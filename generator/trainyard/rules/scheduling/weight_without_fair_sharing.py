"""Find weights of cohorts in clusters without fair sharing."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/weight-without-fair-sharing",
    severity=Severity.WARNING,
    summary="Cohorts have weights only where borrowed nodes are shared by weight.",
    why="""
        The weight has no effect: Kueue ignores weights unless fair sharing is on (seen with Kueue
        0.19.2), and whoever comes first borrows first.
    """,
    fix="Set `sharing: fair`, or remove the weight.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for cohort in site.cluster.cohorts:
            if cohort.weight != 1 and site.cluster.sharing != "fair":
                message = (
                    f"cohort `{cohort.name}` has weight {cohort.weight}, but sharing is "
                    f"{site.cluster.sharing}"
                )
                notes = [Note("`sharing` is set here", site.cluster.at / "sharing")]
                yield RULE.at(cohort.at / "weight", message, notes=notes)


CHECK = Check(RULE, find)
