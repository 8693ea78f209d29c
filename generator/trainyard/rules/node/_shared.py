"""Nodes: what selects them, what the kubelet keeps, how ranks share their cores."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform
from trainyard.model.runtime import Runtime
from trainyard.rules._iterate import hardware


def bound(platform: Platform) -> Iterator[tuple[Runtime, Hardware]]:
    """Yield each runtime that binds its ranks, with the hardware that it runs on."""
    for runtime in platform.runtimes:
        if runtime.binds:
            yield from (
                (runtime, each) for each in hardware(platform) if each.name in runtime.hardware
            )
