"""Find ranges of partitions or VLANs whose end is lower than their start."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import allocated

RULE = Rule(
    id="fabric/reversed-partitions",
    severity=Severity.ERROR,
    summary="The range of a fabric's partitions or VLANs starts with the lower number.",
    why="No team can get a partition or VLAN, because the range is empty.",
    fix="Write the lower number first.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for _, fabric, _ in allocated(platform):
        if fabric.first_segment > fabric.last_segment:
            first = fabric.link.display(fabric.first_segment)
            last = fabric.link.display(fabric.last_segment)
            message = f"the range starts with {first} and ends with {last}"
            yield RULE.at(fabric.at / fabric.link.ranges, message)


CHECK = Check(RULE, find)
