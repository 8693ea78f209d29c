"""Find weights of cohorts and teams that Kueue does not read."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.cluster import Cluster, Cohort
from trainyard.model.platform import Platform
from trainyard.model.team import Team
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/weight-without-effect",
    severity=Severity.WARNING,
    summary="A cohort has a weight only below a parent, a team in a cohort, with fair sharing.",
    why="""
        The weight has no effect. Kueue ignores weights unless fair sharing is on: whoever comes
        first borrows first (seen with Kueue 0.19.2). With fair sharing it compares a cohort with
        its siblings, and the share of one without a parent is always 0; of a team the same holds
        without a cohort
        (kubernetes-sigs/kueue:pkg/cache/scheduler/fair_sharing.go@v0.16.2 and @v0.19.2).
    """,
    fix="""
        Remove the weight. To share by weight, set `sharing: fair` and give the cohort and those
        that it competes with the same `parent`, or the teams the same `cohort`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for cohort in site.cluster.cohorts:
            if cohort.weight != 1:
                yield from _without_effect(site.cluster, cohort)
    for team in platform.teams:
        if team.weight != 1 and team.state != "retired":
            yield from _of_team(platform, team)


def _without_effect(cluster: Cluster, cohort: Cohort) -> Iterator[Diagnostic]:
    at, weighs = cohort.at / "weight", f"cohort `{cohort.name}` has weight {cohort.weight}, but"
    if cluster.sharing != "fair":
        notes = [Note("`sharing` is set here", cluster.at / "sharing")]
        yield RULE.at(at, f"{weighs} sharing is {cluster.sharing}", notes=notes)
    elif not cohort.parent:
        yield RULE.at(at, f"{weighs} no parent")


def _of_team(platform: Platform, team: Team) -> Iterator[Diagnostic]:
    """Yield that no cluster of a team reads its weight."""
    at, weighs = team.at / "weight", f"team `{team.name}` has weight {team.weight}, but"
    clusters = [site.cluster for site in platform.sites if team.quotas_on(site.name)]
    if not team.cohort:
        yield RULE.at(at, f"{weighs} no cohort")
    elif clusters and all(cluster.sharing != "fair" for cluster in clusters):
        notes = [Note("`sharing` is set here", each.at / "sharing") for each in clusters]
        yield RULE.at(at, f"{weighs} sharing is classical on each of its clusters", notes=notes)


CHECK = Check(RULE, find)
