"""Compare each part of the system's share with the node's own; a job needs a whole core at least."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import format_bytes, format_cpu
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

RULE = Rule(
    id="capacity/system-share-exceeds-node",
    severity=Severity.ERROR,
    summary="What daemons keep of a node leaves something of each resource, and one core at least.",
    why="""
        A node of quota would be worth nothing or less, and the API server refuses a negative quota:
        `must be greater than or equal to 0` (seen with Kueue 0.19.2).
    """,
    fix="Lower the share in `system`, or correct the node's size.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        total, system = each.total, each.system
        parts = (
            ("cpu", system.cpu, total.cpu, 1000 * each.threads // each.cores, format_cpu),
            ("memory", system.memory, total.memory, 1, format_bytes),
            (
                "ephemeralStorage",
                system.ephemeral_storage,
                total.ephemeral_storage,
                1,
                format_bytes,
            ),
            ("pods", system.pods, total.pods, 1, str),
        )
        for field, share, whole, least, form in parts:
            if whole - share < least:
                message = (
                    f"the system keeps {form(share)} of the {form(whole)} {field} of a "
                    f"`{each.name}`"
                )
                yield RULE.at(each.at / "system" / field, message)


CHECK = Check(RULE, find)
