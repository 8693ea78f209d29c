"""Find accelerators for which Trainyard writes no settings."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model.accelerator import Maker, maker_by, maker_of
from trainyard.model.hardware import Gpu, Hardware
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

RULE = Rule(
    id="node/unsupported-gpu",
    severity=Severity.ERROR,
    summary="The accelerators are whole GPUs of NVIDIA or AMD, by product and by resource.",
    why="""
        Jobs would be admitted to these nodes with settings of another maker. They find no device,
        or communicate by TCP without a message, and no alert sees it.
    """,
    fix="""
        Keep these nodes in a cluster or queue that Trainyard does not manage: no key makes up for
        what is missing. `docs/reference/platforms.md` has a line for each maker.
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
    resource, product = (each.edited("gpu", field) for field in ("resource", "product"))
    if by_product and by_product.lacks:
        return _refused(each, gpu.product, by_product), product
    if by_resource is None:
        return f"`{gpu.resource}` of a `{each.name}` is not a resource known here", resource
    if by_resource.lacks:
        return _refused(each, gpu.resource, by_resource), resource
    if by_product and by_product is not by_resource:
        message = (
            f"a `{each.name}` has GPUs of {by_product.name}, `{gpu.product}`, and the resource of "
            f"{by_resource.name}, `{gpu.resource}`"
        )
        return message, resource
    return None


def _refused(each: Hardware, value: str, maker: Maker) -> str:
    return f"`{value}` of a `{each.name}` is of {maker.name}: Trainyard lacks {maker.lacks}"


CHECK = Check(RULE, find)
