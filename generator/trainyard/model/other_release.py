"""Versions of products that no release is for, with the reason and what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from trainyard.model.release import Release
from trainyard.model.version import numbers

_NAME = re.compile(r"([a-z][a-z-]*)-(\d+(?:\.\d+)*)")


@dataclass(frozen=True, slots=True)
class OtherRelease:
    """Versions of a product that no release is for.

    Args:
        product: the first part of names of releases, e.g. ``openshift-ai``.
        start: the first of these versions; empty where there is none.
        end: the first version after them; empty where there is none.
        reason: why there is no release, a clause with its source.
        instead: what to do, one or more sentences.
    """

    product: str
    start: str
    end: str
    reason: str
    instead: str

    def holds(self, name: str) -> bool:
        """Return whether the name of a release, e.g. ``openshift-ai-2.25``, is of these."""
        parts = _NAME.fullmatch(name)
        if parts is None or parts[1] != self.product:
            return False
        version = numbers(parts[2])
        return numbers(self.start) <= version and (not self.end or version < numbers(self.end))


@dataclass(frozen=True, slots=True)
class Releases:
    """What a cluster's profile may name as its release, and what it may not.

    Args:
        known: the releases by name; None for one that can't be used.
        others: versions that no release is for.
    """

    known: Mapping[str, Release | None]
    others: tuple[OtherRelease, ...]

    def other(self, name: str) -> OtherRelease | None:
        """Return the row of a version that no release is for; None for any other name."""
        rows = () if name in self.known else self.others
        return next((row for row in rows if row.holds(name)), None)
