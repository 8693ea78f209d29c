"""Runtimes that bind their ranks to cores."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform
from trainyard.model.runtime import Runtime
from trainyard.rules._iterate import hardware_of


def bound(platform: Platform) -> Iterator[tuple[Runtime, Hardware]]:
    """Yield each runtime that binds its ranks, with each hardware that it runs on."""
    for runtime in platform.runtimes:
        if runtime.binds:
            for node_type in hardware_of(platform, runtime):
                yield runtime, node_type
