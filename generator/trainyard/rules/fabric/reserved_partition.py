"""Find reserved partitions and VLANs, in fabrics' ranges and in teams' allocations."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model.fabric import RailFabric
from trainyard.model.platform import Platform
from trainyard.model.team import Allocation
from trainyard.rules._check import Check
from trainyard.rules._iterate import allocated
from trainyard.rules.fabric._partitions import is_reserved

RULE = Rule(
    id="fabric/reserved-partition",
    severity=Severity.ERROR,
    summary="""
        No team has, and no fabric's range includes, a partition outside 0x0001 to 0x7ffe or a VLAN
        outside 2 to 4094.
    """,
    why="""
        The team could reach all other teams, and be reached by them: 0x7fff is the default
        partition, to which every port of the fabric belongs. 0x0000 is not a partition, and numbers
        above 0x7fff contain the membership bit. VLAN 0 means untagged, switches put untagged
        packets into VLAN 1, and 4095 is reserved.
    """,
    fix="Use a partition from 0x0001 to 0x7ffe, or a VLAN from 2 to 4094.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for _, fabric, holders in allocated(platform):
        link = fabric.link
        for number, at in _numbers(fabric, holders):
            if is_reserved(link, number):
                message = (
                    f"{link.segment} {link.display(number)} is reserved; teams may have "
                    f"{link.display(link.first)} to {link.display(link.last)}"
                )
                yield RULE.at(at, message)


def _numbers(
    fabric: RailFabric, holders: list[tuple[str, Allocation]]
) -> Iterator[tuple[int, Pointer]]:
    """Yield both ends of a fabric's range, then the number of each team."""
    yield fabric.first_segment, fabric.at / fabric.link.ranges
    yield fabric.last_segment, fabric.at / fabric.link.ranges
    for _, each in holders:
        yield each.segment, each.at / fabric.link.field


CHECK = Check(RULE, find, every=("fabrics",))
