"""Find partitions and VLANs that two teams have on two clusters whose fabrics share an owner."""

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
    summary="Two clusters whose fabrics have one owner give no partition or VLAN to two teams.",
    why="""
        The two teams are on one network if one subnet manager, or the same switches, serve both
        fabrics: RDMA passes between their jobs, and no NetworkPolicy applies to it.
    """,
    fix="""
        Give the fabrics ranges that do not overlap, or waive this rule if no cable connects them.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    known: dict[tuple[str, str, int], tuple[str, str, Allocation]] = {}
    for site, fabric, holders in allocated(platform):
        link = fabric.link
        owner = site.cluster.external.get(f"{link.enforced}/{fabric.name}", "")
        for team, each in holders:
            number = (link.name, owner, each.segment)
            cluster, other, first = known.setdefault(number, (site.name, team, each))
            if owner and cluster != site.name and other != team:
                message = (
                    f"{link.segment} {link.display(each.segment)} is that of team {team} on "
                    f"{site.name} and of team {other} on {cluster}; both fabrics belong to the "
                    f"{owner}"
                )
                notes = [Note(f"the {link.segment} of team {other}", first.at)]
                yield RULE.at(each.at / link.field, message, notes=notes)


CHECK = Check(RULE, find)
