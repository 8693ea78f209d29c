"""Find teams under a regulation that are not isolated, or are on a cluster that spares others."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import active

RULE = Rule(
    id="isolation/adopting-under-a-regulation",
    severity=Severity.ERROR,
    summary="A team under a regulation is isolated: nothing spares pods of others, or its own.",
    why="""
        The evidence says that the team's nodes and namespaces are its own. Here whoever may make a
        pod runs it on these nodes, and whoever may make a namespace gives it the team's label.
        Before the stage `enforce` the team's network is open, too.
    """,
    fix="""
        Remove `adopt.pods` of the cluster first, then give the team quota there. Remove `adopt` of
        the team before you set `compliance`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    regulated = {team.name for team in active(platform) if team.compliance}
    yield from _at_a_stage(platform)
    for site in platform.sites:
        if site.cluster.adoption.refuses:
            continue
        for tenant in site.tenants:
            if tenant.name in regulated:
                message = (
                    f"team {tenant.name} is under a regulation, but cluster {site.name} refuses no "
                    "pod of others on its nodes"
                )
                note = Note("the cluster", site.cluster.adoption.at / "pods")
                at = (tenant.team.at / "quota" / site.name).key()
                yield RULE.at(at, message, notes=[note])


def _at_a_stage(platform: Platform) -> Iterator[Diagnostic]:
    for team in active(platform):
        if team.compliance and not team.stage.enforces:
            message = f"team {team.name} is under a regulation, and its stage is {team.stage.word}"
            note = Note("the regulation", team.at / "compliance")
            yield RULE.at(team.stage.at / "stage", message, notes=[note])


CHECK = Check(RULE, find)
