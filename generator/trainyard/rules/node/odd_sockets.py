"""Compare the sockets of a node with those beside the board of its GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

RULE = Rule(
    id="node/odd-sockets",
    severity=Severity.WARNING,
    summary="A node has the sockets that servers with its board of GPUs have.",
    why="""
        The cores may be those of one socket, and then half of each node is never used: quota and
        the cores of each rank are computed from them.
    """,
    fix="""
        Compare `cpu` with `lscpu` on such a node, and give the numbers of the whole node. If it
        has these sockets, as a virtual machine may, waive this.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        board = each.product.board if each.product else None
        if board and each.gpus == board.gpus and each.sockets != board.sockets:
            message = (
                f"a `{each.name}` has {counted(each.sockets, 'socket')}, but servers with "
                f"{each.gpus} of its GPUs have {board.sockets}"
            )
            notes = [Note("the GPUs", each.stated("gpu", "product"))]
            yield RULE.at(each.edited("cpu", "sockets"), message, notes=notes)


CHECK = Check(RULE, find)
