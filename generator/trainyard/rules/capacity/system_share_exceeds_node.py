"""Compare what system daemons keep of each resource with the size of the node."""

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
    summary="`system` leaves jobs something of each resource of a node, and at least one core.",
    why="""
        The quota of each node would be zero or negative, and the API server refuses a negative
        quota: `must be greater than or equal to 0` (seen with Kueue 0.19.2).
    """,
    fix="Lower this value in `system`, or correct the size of the node.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for node_type in hardware(platform):
        total, system = node_type.total, node_type.system
        core = 1000 * node_type.threads // node_type.cores
        disk, kept_disk = total.ephemeral_storage, system.ephemeral_storage
        parts = (
            ("cpu", system.cpu, total.cpu, core, format_cpu),
            ("memory", system.memory, total.memory, 1, format_bytes),
            ("ephemeralStorage", kept_disk, disk, 1, format_bytes),
            ("pods", system.pods, total.pods, 1, str),
        )
        for field, share, whole, least, form in parts:
            if whole - share < least:
                message = (
                    f"`system` keeps {form(share)} of the {form(whole)} {field} of a "
                    f"`{node_type.name}`"
                )
                yield RULE.at(node_type.at / "system" / field, message)


CHECK = Check(RULE, find)
