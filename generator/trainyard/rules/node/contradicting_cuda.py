"""Compare `minimumCuda` of a profile with what its product needs."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.version import numbers
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

RULE = Rule(
    id="node/contradicting-cuda",
    severity=Severity.ERROR,
    summary="`minimumCuda` is the first CUDA version that supports the product.",
    why="""
        With a lower version, runtimes pass that fail with their first kernel: `no kernel image is
        available for execution on the device`. With a higher one, runtimes are refused that would
        run.
    """,
    fix="Remove `minimumCuda`: Trainyard knows it for this product. Or correct `product`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        stated = each.gpu.minimum_cuda if each.gpu else ""
        if each.product and numbers(stated) != numbers(each.product.minimum_cuda):
            message = (
                f"a `{each.name}` says that {each.product.name} needs CUDA {stated}, but it needs "
                f"{each.product.minimum_cuda}"
            )
            notes = [Note("the product", each.stated("gpu", "product"))]
            yield RULE.at(each.edited("gpu", "minimumCuda"), message, notes=notes)


CHECK = Check(RULE, find)
