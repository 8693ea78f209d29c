"""Compare the architecture of a node with its GPUs and with the label that selects it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.hardware import ARM64
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

_LABEL = "kubernetes.io/arch"


RULE = Rule(
    id="node/contradicting-architecture",
    severity=Severity.ERROR,
    summary="`arch` is the architecture of the product's own CPUs, and of the nodes' label.",
    why="""
        Runtimes are compared with the wrong architecture, and their pods end with `exec format
        error`; or no node has the label, and the pool's jobs wait.
    """,
    fix="Remove `arch`, or correct the product or label that contradicts it.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        if each.product and each.product.has_grace and each.architecture != ARM64:
            message = (
                f"a `{each.name}` is {each.architecture}, but {each.product.name} has CPUs of "
                f"{ARM64}"
            )
            notes = [Note("the product", each.stated("gpu", "product"))]
            yield RULE.at(each.edited("arch"), message, notes=notes)
        label = each.labels.get(_LABEL, each.architecture)
        if label != each.architecture:
            message = f"a `{each.name}` is {each.architecture}, but its labels select {label}"
            notes = [Note("the label", each.stated("labels", _LABEL))]
            yield RULE.at(each.edited("arch"), message, notes=notes)


CHECK = Check(RULE, find)
