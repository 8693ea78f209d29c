"""Compare the virtual functions of a rail with the GPUs of its node."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

RULE = Rule(
    id="fabric/fewer-functions-than-gpus",
    severity=Severity.WARNING,
    summary="A rail has a virtual function for each GPU of its node.",
    why="""
        Each pod takes one virtual function of each rail, so no more pods than that fit a node,
        whatever GPUs are free. Raising the number later drains every node: the SR-IOV operator
        removes all virtual functions of a port before it makes others.
    """,
    fix="""
        Set `virtualFunctions` to the number of GPUs; if the nodes are only ever given as a whole,
        waive this.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        if each.rails and each.virtual_functions < each.gpus:
            message = (
                f"each rail of a `{each.name}` has "
                f"{counted(each.virtual_functions, 'virtual function')} for "
                f"{counted(each.gpus, 'GPU')}"
            )
            yield RULE.at(each.edited("nic", "virtualFunctions"), message)


CHECK = Check(RULE, find)
