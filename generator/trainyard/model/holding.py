"""Numbers that teams were given on the fabrics of one cluster: what its lockfile remembers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from ipaddress import IPv4Network
from typing import TypeVar

from trainyard.model.ids import Ids
from trainyard.model.link import LINKS, Link

T = TypeVar("T", "Holding", Ids)


@dataclass(frozen=True, slots=True, order=True)
class Holding:
    """One number, as the ledger has or had it.

    Args:
        fabric, team: names; neither needs to exist any more.
        field: the ledger's key for the segment; each technology of links has another.
        since: ISO date of the day on which ``add team`` gave the number; empty when it is not
            recorded.
        former: whether the ledger no longer has it.
    """

    fabric: str
    team: str
    field: str
    segment: int
    addresses: IPv4Network
    since: str = ""
    former: bool = False

    @property
    def number(self) -> tuple[str, str, str, int, IPv4Network]:
        """The fabric, team, segment and addresses: records that agree in these are the same."""
        return (self.fabric, self.team, self.field, self.segment, self.addresses)

    @property
    def holder(self) -> str:
        """The team."""
        return self.team

    def held_by(self, team: str) -> Holding:
        """Return the number as that of another team."""
        return replace(self, team=team)

    @property
    def value(self) -> tuple[str, str, int, IPv4Network]:
        """The number without its team; a renamed team has one that another name had."""
        return (self.fabric, self.field, self.segment, self.addresses)

    @property
    def link(self) -> Link:
        """Technology of the link that the number is for."""
        return next(link for link in LINKS.values() if link.field == self.field)

    @property
    def display(self) -> str:
        """The segment with its word, e.g. ``partition 0x0101``."""
        return f"{self.link.segment} {self.link.display(self.segment)}"

    @property
    def entry(self) -> dict[str, str | int]:
        """The keys and values of its line in the ledger."""
        entry = {self.field: self.link.entry(self.segment), "addresses": str(self.addresses)}
        return {**entry, "since": self.since} if self.since else entry


Given = tuple[Iterable[Holding], Iterable[Ids]]
"""Numbers on the fabrics of a cluster, and user ids of its namespaces."""


def remembered(before: Iterable[T], ledger: Iterable[T]) -> tuple[T, ...]:
    """Return every number ever given, sorted: those remembered before, and those of the ledger.

    Args:
        before: what the committed lockfile remembers.
        ledger: numbers in the ledger now.
    """
    known = {holding.number: replace(holding, former=True) for holding in before}
    for holding in ledger:
        earlier = known.get(holding.number, holding)
        known[holding.number] = replace(holding, since=holding.since or earlier.since)
    return tuple(sorted(known.values()))


def of_others(remembered: Iterable[T], new: T) -> list[T]:
    """Return the remembered numbers that the holder of a new one never had.

    A renamed team has had the numbers that its earlier names had.
    """
    every = list(remembered)
    own = {held.value for held in every if held.holder == new.holder}
    return [held for held in every if held.value not in own]
