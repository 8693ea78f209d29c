"""The steps of an upgrade in their order, those of its jobs among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from trainyard.change.upgrade import Part, ReleaseChange


class Action(Enum):
    """What is done at a step."""

    UPGRADE = "upgrade"
    DRAIN = "drain"
    """Evict all jobs of the cluster, and delete them."""

    OPEN = "open"
    """Open the drained cluster."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of an upgrade.

    Args:
        parts: what is upgraded at once; none of another action.
    """

    action: Action
    parts: tuple[Part, ...] = ()

    @property
    def display(self) -> str:
        """What is upgraded, in words."""
        return "; ".join(part.display for part in self.parts)


def stages(change: ReleaseChange) -> tuple[Stage, ...]:
    """Return the steps of an upgrade in place."""
    return tuple(_stages(change))


def _stages(change: ReleaseChange) -> Iterator[Stage]:
    drained = False
    for parts in change.steps:
        if change.drains and not drained and any(map(_hits_jobs, parts)):
            drained = True
            yield Stage(Action.DRAIN)
        yield Stage(Action.UPGRADE, parts)
    if drained:
        yield Stage(Action.OPEN)


def _hits_jobs(part: Part) -> bool:
    """Return whether a part, or the policies and runtimes of the merge, hits jobs of before."""
    return part.is_tree or any(version.name == "trainer" for version in part.versions)
