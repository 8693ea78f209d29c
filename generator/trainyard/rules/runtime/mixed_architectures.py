"""Compare the processors of each runtime's hardware."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform
from trainyard.rules import _iterate
from trainyard.rules._check import Check

_ARCHITECTURE = "kubernetes.io/arch"


_ARM_PRODUCTS = ("NVIDIA-GB", "NVIDIA-GH")
"""Superchips: an Arm CPU with the GPU beside it."""


RULE = Rule(
    id="runtime/mixed-architectures",
    severity=Severity.WARNING,
    summary="A runtime's hardware has processors of one architecture.",
    why="""
        Unless its digest is that of an index with an image for each, the image is of one
        architecture, and on the other its pods end with `exec format error`.
    """,
    fix="Make a runtime for each, or waive this when the digest is that of an index with both.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        kinds = {
            _architecture(each): each
            for each in _iterate.hardware(platform)
            if each.name in runtime.hardware
        }
        if len(kinds) > 1:
            told = " and ".join(
                f"{each.name} ({architecture})" for architecture, each in sorted(kinds.items())
            )
            notes = [Note(each.name, each.at) for _, each in sorted(kinds.items())]
            yield RULE.at(
                runtime.at / "hardware", f"runtime `{runtime.name}` runs on {told}", notes=notes
            )


def _architecture(hardware: Hardware) -> str:
    """Return an architecture as nodes are labelled with it."""
    superchip = hardware.gpu is not None and hardware.gpu.product.startswith(_ARM_PRODUCTS)
    return hardware.labels.get(_ARCHITECTURE, "arm64" if superchip else "amd64")


CHECK = Check(RULE, find)
