"""Images and the hardware that they run on."""

from __future__ import annotations


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
