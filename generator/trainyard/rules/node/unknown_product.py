"""Find products of NVIDIA that no table knows."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.accelerator import NVIDIA, maker_of, meant
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

RULE = Rule(
    id="node/unknown-product",
    severity=Severity.WARNING,
    summary="A product of NVIDIA is one that Trainyard knows.",
    why="""
        If it is misspelt, runtimes are compared with the wrong `minimumCuda`, and acceptance tests
        expect no figures; if the label selects the nodes, no node has it.
    """,
    fix="""
        Compare it with `kubectl get nodes -L nvidia.com/gpu.product`; if it is right, waive this.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        product = each.gpu.product if each.gpu and not each.product else ""
        if maker_of(product) is NVIDIA:
            near = meant(product)
            hint = f"Did you mean `{near}`? {RULE.fix}" if near else ""
            message = f"Trainyard does not know the product `{product}` of a `{each.name}`"
            yield RULE.at(each.edited("gpu", "product"), message, hint=hint)


CHECK = Check(RULE, find)
