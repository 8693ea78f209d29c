"""Compare the GPU product of a profile with the label that selects its nodes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware
from trainyard.rules.node._labels import OTHER_NODES

RULE = Rule(
    id="node/contradicting-product",
    severity=Severity.ERROR,
    summary="""
        The label `nvidia.com/gpu.product` or `amd.com/gpu.product-name` that selects a node has the
        value of the profile's `gpu.product`.
    """,
    why=OTHER_NODES,
    fix="""
        Set `gpu.product` and the label to the same value. A profile that `extends` another replaces
        its `labels` as a whole, but keeps the keys of `gpu` that it does not set.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for node_type in hardware(platform):
        key = node_type.maker.label if node_type.maker else ""
        label = node_type.labels.get(key)
        if node_type.gpu and label is not None and label != node_type.gpu.product:
            message = (
                f"a `{node_type.name}` has {node_type.gpu.product} GPUs, but its labels select "
                f"{label}"
            )
            notes = [Note("the label", node_type.stated("labels", key))]
            yield RULE.at(node_type.at / "gpu" / "product", message, notes=notes)


CHECK = Check(RULE, find)
