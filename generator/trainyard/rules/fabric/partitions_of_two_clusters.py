"""Find numbers of one owner's fabrics with two holders on two clusters; one fabric alone has a rule of its own."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.team import Allocation
from trainyard.rules._check import Check
from trainyard.rules._iterate import allocated

RULE = Rule(
    id="fabric/partitions-of-two-clusters",
    severity=Severity.WARNING,
    summary="Fabrics of two clusters with one owner give no number to two teams.",
    why="""
        If one subnet manager, or the same switches, serve both, the two teams are on one network:
        RDMA passes between their jobs, and no NetworkPolicy sees it.
    """,
    fix="Give the fabrics ranges that don't meet; waive this when no cable joins them.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    known: dict[tuple[str, str, int], tuple[str, str, Allocation]] = {}
    for site, fabric, holders in allocated(platform):
        link = fabric.link
        owner = site.cluster.external.get(f"{link.enforced}/{fabric.name}", "")
        for team, each in holders:
            first = known.setdefault((link.name, owner, each.segment), (site.name, team, each))
            if owner and first[0] != site.name and first[1] != team:
                message = (
                    f"{link.segment} {link.display(each.segment)} is that of team {team} on "
                    f"{site.name}"
                )
                message += (
                    f" and of team {first[1]} on {first[0]}; both fabrics belong to the {owner}"
                )
                notes = [Note(f"team {first[1]}", first[2].at)]
                yield RULE.at(each.at / link.field, message, notes=notes)


CHECK = Check(RULE, find)
