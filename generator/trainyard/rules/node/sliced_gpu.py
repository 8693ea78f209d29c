"""Find hardware whose GPUs are MIG slices or shared in time."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model.accelerator import SLICED
from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

_WHOLE = {"nvidia.com/mig.config": "all-disabled", "nvidia.com/gpu.sharing-strategy": "none"}
"""Labels that select nodes with parts of GPUs, unless they have these values."""


RULE = Rule(
    id="node/sliced-gpu",
    severity=Severity.ERROR,
    summary="The GPUs of a pool are whole ones: neither MIG slices nor shared in time.",
    why="""
        NCCL can't join two slices of a card, and a job of eight GPUs may get one card eight times:
        nvidia.com/gpu counts slices or shares of time instead of cards (NVIDIA/gpu-operator#637).
    """,
    fix="""
        Configure the nodes for whole GPUs. Keep sliced GPUs in pools that Trainyard does not
        manage.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for node_type in hardware(platform):
        for evidence, at in _sliced(node_type):
            yield RULE.at(at, f"the GPUs of a `{node_type.name}` are parts of cards: {evidence}")


def _sliced(each: Hardware) -> Iterator[tuple[str, Pointer]]:
    """Yield each product or label that marks parts of GPUs, with its place."""
    if each.gpu and SLICED.search(each.gpu.product):
        yield each.gpu.product, each.at / "gpu" / "product"
    for key, whole in _WHOLE.items():
        if each.labels.get(key, whole) != whole:
            yield f"{key}={each.labels[key]}", each.at / "labels" / key


CHECK = Check(RULE, find)
