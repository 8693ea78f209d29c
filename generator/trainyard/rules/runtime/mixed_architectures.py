"""Find runtimes whose hardware has processors of several architectures."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware_of

_ARCHITECTURE = "kubernetes.io/arch"


RULE = Rule(
    id="runtime/mixed-architectures",
    severity=Severity.WARNING,
    summary="All hardware of a runtime has processors of one architecture.",
    why="""
        On one of the architectures, pods end with `exec format error`, unless the image's digest is
        that of an index with an image for each architecture.
    """,
    fix="""
        Create a runtime for each architecture, or waive this when the digest is that of an index
        with both.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        by_architecture = {
            _architecture(node_type): node_type for node_type in hardware_of(platform, runtime)
        }
        if len(by_architecture) > 1:
            kinds = sorted(by_architecture.items())
            listed = " and ".join(f"{each.name} ({name})" for name, each in kinds)
            notes = [Note(each.name, each.at) for _, each in kinds]
            message = f"runtime `{runtime.name}` runs on {listed}"
            yield RULE.at(runtime.at / "hardware", message, notes=notes)


def _architecture(hardware: Hardware) -> str:
    """Return the value of the label ``kubernetes.io/arch`` on such nodes."""
    return hardware.labels.get(_ARCHITECTURE, hardware.architecture)


CHECK = Check(RULE, find)
