"""What controllers and nodes do when an object is created, changed, recreated or deleted."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, partial

from trainyard.change.impact.objects import ObjectChange
from trainyard.change.impact.places import Occupancy
from trainyard.change.objects import Sides
from trainyard.model.differences import Difference
from trainyard.model.manifest import Manifest


class Effect(IntEnum):
    """Effect of a change on what runs, the worst last."""

    RECREATES = 1
    """Objects are deleted and created again."""
    UNCOUNTS = 2
    """Jobs run on outside of the quota, so that others are admitted to their nodes."""
    RECLAIMS = 3
    """Jobs run until others need their nodes, and are then stopped and queued again."""
    EVICTS = 4
    """Jobs are stopped and queued again."""
    UNLOCKS = 5
    """What waited for a person to sync it is applied at once, and may empty or reboot nodes."""
    DRAINS = 6
    """Nodes are emptied, some at a time."""
    REBOOTS = 7
    """Nodes are emptied and rebooted."""
    DELETES = 8
    """Data or namespaces go, at once or with a claim; a revert does not bring them back."""


ANY = "*"
"""Every field of an object."""


@dataclass(frozen=True, slots=True)
class Edited:
    """An object that differs, and one field that does.

    Args:
        old, new: None where the side does not have the object.
        field: None where the object is created or deleted.
    """

    change: ObjectChange
    old: Manifest | None
    new: Manifest | None
    field: Difference | None

    @property
    def manifest(self) -> Manifest:
        """The object as it runs, or as it will."""
        manifest = self.old or self.new
        assert manifest is not None
        return manifest

    @property
    def values(self) -> tuple[object, object]:
        """The field before and after; nothing where the object is created or deleted."""
        return (self.field.old, self.field.new) if self.field else (None, None)


@dataclass(frozen=True, slots=True)
class Touched:
    """What a change reaches.

    Args:
        pools: whose nodes are touched, all of them.
        quotas: (team, pool): jobs within this quota are touched, borrowed nodes included.
        teams: that are named though none of their jobs is touched.
    """

    pools: frozenset[str] = frozenset()
    quotas: frozenset[tuple[str, str]] = frozenset()
    teams: frozenset[str] = frozenset()

    def __or__(self, other: Touched) -> Touched:
        """Return what either reaches."""
        return Touched(
            self.pools | other.pools, self.quotas | other.quotas, self.teams | other.teams
        )


Reach = Callable[[Occupancy, Edited], Touched]
Condition = Callable[[Sides, Edited], bool]


def flavor_of(edited: Edited) -> str:
    """Return the flavor that a field of a ClusterQueue is about; empty for another field."""
    path = edited.field.path if edited.field else ""
    return path.partition(".flavors[")[2].partition("]")[0]


def nobody(_occupancy: Occupancy, _edited: Edited) -> Touched:
    """Return that nothing is touched."""
    return Touched()


def always(_sides: Sides, _edited: Edited) -> bool:
    """Return that a reaction has no condition."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """What happens to what runs when an object of a kind is edited.

    Of a kind's reactions to a change of a field, the first that fits counts.

    Args:
        change: ``created``, ``changed``, ``recreated``, ``deleted`` or ``left behind``.
        fields: dotted path, with ``*`` for any part; what is below it too.
        when, condition: what else must hold, in code and in words; empty for nothing.
        effect: None where nothing that runs is disturbed.
        cause: the edit in words, with the names that `causes.cause` fills in.
        consequence: sentences, as it was seen or as the source has it.
        source: ``seen with ...``, or ``owner/repo:path@tag``.
        reach: what is touched.
        pace: kind of the object of a pool whose ``maxUnavailable`` says how many nodes at a time;
            empty for one after the other.
        lost: by the teams, where the effect is that something is deleted; else empty.
    """

    kind: str
    change: str
    fields: str = ANY
    when: Condition = always
    condition: str = ""
    effect: Effect | None = None
    cause: str = ""
    consequence: str
    source: str
    reach: Reach = nobody
    pace: str = ""
    lost: str = ""

    def fits(self, sides: Sides, edited: Edited) -> bool:
        """Return whether this is what happens."""
        if edited.field is not None and not _pattern(self.fields).fullmatch(edited.field.path):
            return False
        return self.when(sides, edited)


@cache
def _pattern(fields: str) -> re.Pattern[str]:
    words = ".*".join(re.escape(part) for part in fields.split("*"))
    return re.compile(rf"{words}(?:[.\[].*)?", re.DOTALL)


def quiet(
    kind: str,
    source: str,
    *,
    every: str = "",
    when: Condition = always,
    condition: str = "",
    **consequences: str,
) -> tuple[Reaction, ...]:
    """Return the reactions to a kind that disturb nothing that runs.

    Args:
        kind: of the object.
        source: of all of them.
        every: the consequence of each change, where it is the same.
        when: as in `Reaction`.
        condition: likewise.
        consequences: by change.
    """
    words = consequences or dict.fromkeys(("created", "changed", "deleted"), every)
    shared = partial(Reaction, kind=kind, source=source, when=when, condition=condition)
    return tuple(shared(change=change, consequence=text) for change, text in words.items())
