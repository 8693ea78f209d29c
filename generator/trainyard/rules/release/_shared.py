"""Comparison of installed versions with combinations that are known to fail."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.model.release import KnownBad
from trainyard.model.version import numbers


def applies(bad: KnownBad, versions: Mapping[str, str]) -> bool:
    """Return whether every component of a known combination is installed, within its bounds."""
    return all(
        component in versions
        and numbers(start) <= numbers(versions[component])
        and below(versions[component], end)
        for component, (start, end) in bad.components.items()
    )


def below(version: str, end: str) -> bool:
    """Return whether a version is lower than a bound; an empty bound is open."""
    return not end or numbers(version) < numbers(end)
