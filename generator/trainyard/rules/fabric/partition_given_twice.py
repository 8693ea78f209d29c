"""Find partitions and VLANs that two teams of a network have."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import Held, held_by_network

RULE = Rule(
    id="fabric/partition-given-twice",
    severity=Severity.ERROR,
    summary="""
        No two teams of a fabric, or of fabrics with one `physical` name, have the same partition or
        VLAN, retired ones included.
    """,
    why="""
        Both teams are on one network: RDMA passes between them, and no NetworkPolicy applies to it.
    """,
    fix="Give the newer team a number that no team has ever had.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for network in held_by_network(platform):
        known: dict[int, Held] = {}
        for each in network:
            first = known.setdefault(each.numbers.segment, each)
            if first.team != each.team:
                yield _given_twice(first, each)


def _given_twice(first: Held, second: Held) -> Diagnostic:
    link = second.fabric.link
    number = f"{link.segment} {link.display(second.numbers.segment)}"
    if first.fabric is second.fabric:
        holders, where = f"teams {first.team} and {second.team}", f"fabric `{second.fabric.name}`"
    else:
        holders = f"{first.holder(second)} and {second.holder(first)}"
        where = f"network `{second.fabric.physical}`"
    notes = [Note(f"the {link.segment} of team {first.team}", first.numbers.at / link.field)]
    at = second.numbers.at / link.field
    return RULE.at(at, f"{holders} both have {number} of {where}", notes=notes)


CHECK = Check(RULE, find)
