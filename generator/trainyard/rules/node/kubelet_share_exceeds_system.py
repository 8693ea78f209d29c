"""Compare the resources that a node withholds from pods with its system share."""

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
    summary="A node's system share covers all resources that the node withholds from pods.",
    why="""
        No pod of a whole node fits, and its gang stays Pending (`excluded: resource "cpu"`, seen
        with Kueue 0.19.2): the node's allocatable resources are lower than quota assumes. Besides
        `kubelet`, kubelet withholds a tenth of `ephemeralStorage` and 100Mi of memory, below which
        it evicts pods, and the kernel keeps 1/64 of the memory.
    """,
    fix="Raise `system`, or lower `kubelet`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for node_type in hardware(platform):
        withheld, system = node_type.withheld, node_type.system
        for field, part, whole in (
            ("cpu", withheld.cpu, system.cpu),
            ("memory", withheld.memory, system.memory),
            ("ephemeralStorage", withheld.ephemeral_storage, system.ephemeral_storage),
        ):
            if part > whole:
                message = (
                    f"a `{node_type.name}` withholds more {field} from pods "
                    f"({_withheld(field, part)}) than its system share ({_share(field, whole)})"
                )
                notes = [
                    Note(f"the node's {field}", node_type.stated(field)),
                    Note(f"the {field} that kubelet reserves", node_type.stated("kubelet", field)),
                ]
                hint = (
                    f"Raise `system.{field}` to {_withheld(field, part)} or more, or lower "
                    f"`kubelet.{field}`."
                )
                yield RULE.at(node_type.at / "system" / field, message, hint=hint, notes=notes)


def _withheld(field: str, amount: int) -> str:
    """Return a withheld amount as text, bytes rounded up to whole Gi."""
    return format_cpu(amount) if field == "cpu" else f"{-(-amount // _GIBIBYTE)}Gi"


def _share(field: str, amount: int) -> str:
    """Return an amount of the system share as the profile writes it."""
    return format_cpu(amount) if field == "cpu" else format_bytes(amount)


CHECK = Check(RULE, find)
