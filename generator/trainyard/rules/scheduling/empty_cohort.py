"""Find cohorts without a team in them or in a descendant."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/empty-cohort",
    severity=Severity.WARNING,
    summary="Every cohort, or one of its descendants, has a team.",
    why="""
        Nothing is lent or borrowed in the cohort. Often a team's `cohort` names another one by
        mistake.
    """,
    fix="Put a team into it, or remove it.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        used: set[str] = set()
        for team in (tenant.team for tenant in site.tenants if tenant.team.cohort):
            used.update(site.cluster.lineage(team.cohort))
        for cohort in site.cluster.cohorts:
            if cohort.name not in used:
                yield RULE.at(cohort.at.key(), f"no team is in cohort `{cohort.name}` or below it")


CHECK = Check(RULE, find, every=("teams/", "quota", "pools", "cohort", "cohorts"))
