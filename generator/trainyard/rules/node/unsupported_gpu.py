"""Find accelerators for which Trainyard writes no settings."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model.accelerator import NVIDIA, maker_by, maker_of
from trainyard.model.hardware import Gpu, Hardware
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

RULE = Rule(
    id="node/unsupported-gpu",
    severity=Severity.ERROR,
    summary="The accelerators are whole GPUs of NVIDIA, by product and by resource.",
    why="""
        Jobs would be admitted to these nodes with settings of NCCL and CUDA. They find no device,
        or communicate by TCP without a message, and no alert sees it.
    """,
    fix="""
        Keep these nodes in a cluster or queue that Trainyard does not manage: no key makes up for
        what is missing.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        if each.gpu and (found := _unsupported(each, each.gpu)):
            message, at = found
            yield RULE.at(at, message)


def _unsupported(each: Hardware, gpu: Gpu) -> tuple[str, Pointer] | None:
    """Return what is not supported, and where it is stated; None if all is."""
    by_product, by_resource = maker_of(gpu.product), maker_by(gpu.resource)
    field = "product" if by_product and by_product is not NVIDIA else "resource"
    maker = by_product if field == "product" else by_resource
    at = each.edited("gpu", field)
    if maker is NVIDIA:
        return None
    if maker is None:
        return f"`{gpu.resource}` of a `{each.name}` is no resource that Trainyard knows", at
    value = gpu.product if field == "product" else gpu.resource
    return f"`{value}` of a `{each.name}` is of {maker.name}: Trainyard lacks {maker.lacks}", at


CHECK = Check(RULE, find)
