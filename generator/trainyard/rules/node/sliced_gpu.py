"""Look at the product, and at labels of nodes whose GPUs are divided."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

_SLICED = re.compile(r"-MIG-|-SHARED\Z")


_WHOLE = {"nvidia.com/mig.config": "all-disabled", "nvidia.com/gpu.sharing-strategy": "none"}
"""Labels that select nodes with parts of GPUs, unless they have these values."""


RULE = Rule(
    id="node/sliced-gpu",
    severity=Severity.ERROR,
    summary="The GPUs of a pool are whole ones: neither slices (MIG) nor shared in time.",
    why="""
        nvidia.com/gpu then counts slices or turns (NVIDIA/gpu-operator#637): NCCL can't join two
        slices of a card, and a job of eight may have one card, eight times.
    """,
    fix="Set the nodes to whole GPUs; leave sliced ones to pools that Trainyard does not know.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        for what, at in _sliced(each):
            yield RULE.at(at, f"the GPUs of a `{each.name}` are parts of cards: {what}")


def _sliced(each: Hardware) -> Iterator[tuple[str, Pointer]]:
    if each.gpu and _SLICED.search(each.gpu.product):
        yield each.gpu.product, each.at / "gpu" / "product"
    for key, whole in _WHOLE.items():
        if each.labels.get(key, whole) != whole:
            yield f"{key}={each.labels[key]}", each.at / "labels" / key


CHECK = Check(RULE, find)
