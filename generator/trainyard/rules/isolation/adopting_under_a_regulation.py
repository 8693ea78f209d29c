"""Find teams under a regulation on clusters whose admission spares what others run."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import active

RULE = Rule(
    id="isolation/adopting-under-a-regulation",
    severity=Severity.ERROR,
    summary="A team under a regulation has no quota where admission spares pods of others.",
    why="""
        The evidence says that the team's nodes and namespaces are its own. Here whoever may make a
        pod runs it on these nodes, and whoever may make a namespace gives it the team's label.
    """,
    fix="Remove `adopt.pods` of the cluster first, then give the team quota there.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    regulated = {team.name for team in active(platform) if team.compliance}
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


CHECK = Check(RULE, find)
