"""Compare the product with the label of that meaning."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware
from trainyard.rules.node._labels import OTHER_NODES, PRODUCT

RULE = Rule(
    id="node/contradicting-product",
    severity=Severity.ERROR,
    summary="""
        The label of a node's GPUs that selects it is that of the product that the profile states.
    """,
    why=OTHER_NODES,
    fix="""
        Say both; a profile that extends another replaces its `labels` as a whole, and of `gpu` what
        it names.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        label = each.labels.get(PRODUCT)
        if each.gpu and label is not None and label != each.gpu.product:
            message = (
                f"the GPUs of a `{each.name}` are {each.gpu.product}, but its labels select {label}"
            )
            notes = [Note("the label", each.stated("labels", PRODUCT))]
            yield RULE.at(each.at / "gpu" / "product", message, notes=notes)


CHECK = Check(RULE, find)
