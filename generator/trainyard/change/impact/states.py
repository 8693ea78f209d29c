"""Changes of what jobs may be, of claims, regulations, logs, alerts, and other values."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.model.quantity import parse_amount


@dataclass(frozen=True, slots=True)
class PriorityChange:
    """A priority that jobs of some namespaces may have from now on, or no longer."""

    priority: str
    added: bool
    namespaces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeadlineChange:
    """A priority whose jobs may run for another time; seconds, 0 for any time."""

    priority: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """A claim with another size.

    Args:
        before, after: quantities, as the claim requests them.
    """

    namespace: str
    claim: str
    before: str
    after: str

    @property
    def grows(self) -> bool:
        """Return whether the storage grows: no claim can be made smaller again."""
        return parse_amount(self.after) > parse_amount(self.before)


@dataclass(frozen=True, slots=True)
class RegulationChange:
    """A team that is under another regulation than before, or held to other measures.

    Args:
        before, after: title of the regulation; empty for none.
        lost, gained: measures that are demanded of it no longer, or now; sorted.
        opened, answered: measures that the tree alone meets no longer, or now; sorted.
    """

    team: str
    before: str
    after: str
    lost: tuple[str, ...]
    gained: tuple[str, ...]
    opened: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogChange:
    """How long the log store keeps the lines of some teams' pods, where it differs.

    No object has it: the owner of the store takes it from the README of the cluster.

    Args:
        teams: on both sides, sorted.
        before, after: days; 0 where no profile states it.
    """

    teams: tuple[str, ...]
    before: int
    after: int

    @property
    def is_shorter(self) -> bool:
        """Whether lines are kept for a shorter time than before."""
        return 0 < self.after < self.before


@dataclass(frozen=True, slots=True)
class AlertChange:
    """An alert that comes, goes or has another severity.

    Args:
        before, after: its severity; empty where it is not.
    """

    alert: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class WaitingChange:
    """Jobs of a priority that wait longer or shorter until an alert fires; in seconds."""

    priority: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class FactChange:
    """A value that people depend on, and that no other change shows.

    Args:
        topic: heading of the lines that it belongs to, e.g. ``Storage``.
        subjects: whose value it is, sorted.
        what: the value is; empty where the subject says it.
        before, after: in words; ``none`` where there is no value.
    """

    topic: str
    subjects: tuple[str, ...]
    what: str
    before: str
    after: str
