"""Find cohorts that no team is in or below."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/empty-cohort",
    severity=Severity.WARNING,
    summary="Some team is in each cohort, or in one below it.",
    why="Nothing is lent or borrowed there: often a team's `cohort` names another one by mistake.",
    fix="Put a team into it, or remove it.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        taken = {tenant.team.cohort for tenant in site.tenants if tenant.team.cohort}
        used = {name for cohort in taken for name in site.cluster.lineage(cohort)}
        for cohort in site.cluster.cohorts:
            if cohort.name not in used:
                yield RULE.at(cohort.at.key(), f"no team is in cohort `{cohort.name}` or below it")


CHECK = Check(RULE, find, every=("teams/", "quota", "pools", "cohort", "cohorts"))
