"""Find partitions and VLANs outside their fabric's range; reserved ones have another rule."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import allocated
from trainyard.rules.fabric._partitions import is_reserved

RULE = Rule(
    id="fabric/partition-out-of-range",
    severity=Severity.ERROR,
    summary="A team's partition or VLAN is in the range of its fabric.",
    why="""
        The team may be on one network with storage or foreign hosts, or its ranks find no path:
        numbers outside the range are reserved for others, or the switches do not carry them.
    """,
    fix="Use a number of the range, or agree on a larger range with the owner of the fabric.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site, fabric, holders in allocated(platform):
        first, last, link = fabric.first_segment, fabric.last_segment, fabric.link
        for team, each in holders:
            outside = first <= last and not first <= each.segment <= last
            if outside and not is_reserved(link, each.segment):
                message = (
                    f"{link.segment} {link.display(each.segment)} of team {team}"
                    f" is not in {link.display(first)} to {link.display(last)}"
                )
                notes = [Note(f"the range of fabric `{fabric.name}`", fabric.at / link.ranges)]
                cause = f"{link.segment}s of teams on fabric `{fabric.name}` of {site.name}"
                cause += f" are not in {link.display(first)} to {link.display(last)}"
                yield RULE.at(each.at / link.field, message, notes=notes, cause=cause)


CHECK = Check(RULE, find, every=("fabrics",))
