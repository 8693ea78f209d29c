"""Look at both ends of each range and at what each team holds."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import allocated
from trainyard.rules.fabric._partitions import is_reserved

RULE = Rule(
    id="fabric/reserved-partition",
    severity=Severity.ERROR,
    summary="""
        No team holds, and no fabric hands out, a partition outside 0x0001 to 0x7ffe or a VLAN
        outside 2 to 4094.
    """,
    why="""
        0x7fff is the default partition, that every port of the fabric is in: the team could reach,
        and be reached by, all others. 0x0000 is no partition, and above 0x7fff stands the
        membership bit. VLAN 0 is untagged, 1 is where switches put what has no tag, and 4095 is
        reserved.
    """,
    fix="Take a key from 0x0001 to 0x7ffe, or a VLAN from 2 to 4094.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for _, fabric, holders in allocated(platform):
        link = fabric.link
        found: list[tuple[int, Pointer]] = [
            (number, fabric.at / link.ranges)
            for number in (fabric.first_segment, fabric.last_segment)
            if is_reserved(link, number)
        ]
        found += [
            (each.segment, each.at / link.field)
            for _, each in holders
            if is_reserved(link, each.segment)
        ]
        for number, at in found:
            message = (
                f"{link.segment} {link.display(number)} is reserved;"
                f" teams may have {link.display(link.first)} to {link.display(link.last)}"
            )
            yield RULE.at(at, message)


CHECK = Check(RULE, find, every=("fabrics",))
