"""Versions that are installed against what is known of them."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.model.release import KnownBad
from trainyard.rules._versions import numbers


def applies(bad: KnownBad, versions: Mapping[str, str]) -> bool:
    """Tell whether every component is installed in a version between its bounds."""
    return all(
        component in versions
        and numbers(start) <= numbers(versions[component])
        and below(versions[component], end)
        for component, (start, end) in bad.components.items()
    )


def below(version: str, end: str) -> bool:
    return not end or numbers(version) < numbers(end)
