"""The team that ``trainyard add team`` is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from trainyard.model.unit import Unit

NONE: Final = "none"
"""Cohort of a team that neither lends nor borrows."""


@dataclass(frozen=True, slots=True)
class TeamRequest:
    """The team that is wanted.

    Args:
        own: its quota of one pool.
        unit: in which it is counted.
        cluster, pool: needed only where there are several.
        since: ISO date of today, written beside its numbers; empty to leave it out.
        borrow: how many it may borrow.
        lend: ``all``, ``none`` or a number; empty for the default.
        cohort: its name, or ``none``; empty for the first of the cluster.
        runtimes: empty for those that run on the pool.
        contact: empty for one that is guessed.
        groups: role -> group; empty for those that are guessed.
    """

    name: str
    own: int
    unit: Unit = Unit.NODES
    cluster: str = ""
    pool: str = ""
    since: str = ""
    borrow: int = 0
    lend: str = ""
    cohort: str = ""
    runtimes: tuple[str, ...] = ()
    contact: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def quota(self) -> dict[str, int | str]:
        """Its quota of the pool, as in the profile."""
        quota: dict[str, int | str] = {self.unit.value: self.own}
        if self.borrow:
            quota["borrow"] = self.borrow
        if self.lend:
            quota["lend"] = int(self.lend) if self.lend.isdecimal() else self.lend
        return quota
