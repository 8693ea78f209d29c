"""Compare each part of what pods are not offered with the system's share."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import format_bytes, format_cpu
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

_GIBIBYTE = 1 << 30


RULE = Rule(
    id="node/kubelet-share-exceeds-system",
    severity=Severity.ERROR,
    summary="What a node does not offer to pods is part of the system's share.",
    why="""
        The node offers less than quota was computed from: no pod of a whole node fits, and its gang
        stays Pending (`excluded: resource "cpu"`, seen with Kueue 0.19.2). Besides `kubelet`,
        kubelet holds back a tenth of `ephemeralStorage` and 100Mi of memory, below which it evicts
        pods, and the kernel keeps 1/64 of the memory.
    """,
    fix="Raise `system`, or lower `kubelet`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        withheld, system = each.withheld, each.system
        parts = (
            ("cpu", withheld.cpu, system.cpu, format_cpu),
            ("memory", withheld.memory, system.memory, format_bytes),
            (
                "ephemeralStorage",
                withheld.ephemeral_storage,
                system.ephemeral_storage,
                format_bytes,
            ),
        )
        for field, part, whole, form in parts:
            if part > whole:
                told = format_cpu(part) if field == "cpu" else f"{-(-part // _GIBIBYTE)}Gi"
                message = (
                    f"a `{each.name}` offers pods {told} less {field} than it has; its "
                    f"system share is {form(whole)}"
                )
                notes = [
                    Note(f"how much {field} it has", each.stated(field)),
                    Note("what kubelet reserves", each.stated("kubelet", field)),
                ]
                yield RULE.at(each.at / "system" / field, message, notes=notes)


CHECK = Check(RULE, find)
