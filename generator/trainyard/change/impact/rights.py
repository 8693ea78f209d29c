"""Changes of who may do or see what."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.model.differences import few


@dataclass(frozen=True, slots=True)
class BoundRole:
    """A role in the namespaces where a subject has it.

    Args:
        role: name of a ClusterRole, or ``Role NAME``.
        namespaces: sorted; empty for the whole cluster.
    """

    role: str
    namespaces: tuple[str, ...]

    @property
    def display(self) -> str:
        """The role in one line, e.g. ``trainyard-team-user in team-nlp``."""
        return f"{self.role} in {few(self.namespaces) or 'the whole cluster'}"


@dataclass(frozen=True, slots=True)
class AccessChange:
    """Roles that a subject gains or loses.

    Args:
        subject: ``group nlp-leads``, ``service account team-nlp/ci-runner`` or ``user ...``.
        gained, lost: sorted.
    """

    subject: str
    gained: tuple[BoundRole, ...]
    lost: tuple[BoundRole, ...]

    @property
    def is_loss(self) -> bool:
        """Whether it loses something and gains nothing."""
        return bool(self.lost) and not self.gained


@dataclass(frozen=True, slots=True)
class RoleChange:
    """A role that permits more or less than before.

    Args:
        role: as in `BoundRole`.
        gained, lost: permissions in one line each, e.g. ``get, list pods``; sorted.
        subjects: that have it on both sides; sorted.
    """

    role: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    subjects: tuple[str, ...]

    @property
    def is_loss(self) -> bool:
        """Whether it permits less, and nothing else instead."""
        return bool(self.lost) and not self.gained


@dataclass(frozen=True, slots=True)
class TermChange:
    """A right whose last day differs; only the profile of a team has this day.

    Args:
        subject: ``group nccl-experts``, or ``team nlp`` for all who submit its jobs.
        right: what the subject may do, e.g. ``create MPIJobs``.
        before, after: ISO date of the last day; empty where the subject lacks the right.
    """

    subject: str
    right: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ViewerChange:
    """A program that shows dashboards from now on, or no more.

    Args:
        viewer: as the cluster's profile names it.
    """

    viewer: str
    added: bool
