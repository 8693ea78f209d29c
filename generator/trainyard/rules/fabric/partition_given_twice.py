"""Find partitions and VLANs that two teams of a fabric have."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.team import Allocation
from trainyard.rules._check import Check
from trainyard.rules._iterate import allocated

RULE = Rule(
    id="fabric/partition-given-twice",
    severity=Severity.ERROR,
    summary="No two teams of a fabric, retired ones included, have the same partition or VLAN.",
    why="""
        Both teams are on one network: RDMA passes between them, and no NetworkPolicy applies to it.
    """,
    fix="Give the newer team a number that no team has ever had.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for _, fabric, holders in allocated(platform):
        known: dict[int, tuple[str, Allocation]] = {}
        link = fabric.link
        for team, each in holders:
            first, other = known.setdefault(each.segment, (team, each))
            if first != team:
                number = f"{link.segment} {link.display(each.segment)}"
                message = f"teams {first} and {team} both have {number} of fabric `{fabric.name}`"
                notes = [Note(f"the {link.segment} of team {first}", other.at / link.field)]
                yield RULE.at(each.at / link.field, message, notes=notes)


CHECK = Check(RULE, find)
