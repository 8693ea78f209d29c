"""User ids of a namespace on OpenShift: the range and the SELinux level that its pods run with, as the ledger has them.

OpenShift writes three annotations on a namespace that has no ``openshift.io/sa.scc.uid-range``, and
leaves one that has it alone, even when the others are missing
(openshift/cluster-policy-controller:pkg/security/controller). Without the level no pod is admitted,
so all three are written together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from trainyard.diagnostics import Pointer

SIZE: Final = 10_000
"""Ids of a range, as OpenShift divides its own (``uidAllocatorRange:
1000000000-1999999999/10000``)."""

_FIRST: Final = 2_000_000_000
"""First id that OpenShift never gives: its own ranges end below, and its allocator passes over
others."""

_BLOCKS: Final = (2**31 - _FIRST) // SIZE
"""Ranges from there on: Kubernetes takes ids below 2^31."""

_LEVELS: Final = 1000
"""Levels with one first category. OpenShift gives none from c1001 on: 100,000 ranges of five levels
end at c1000."""

UIDS: Final = "uids"
"""Key of the ledger, beside a cluster's fabrics."""

_RANGE: Final = "openshift.io/sa.scc.uid-range"
_GROUPS: Final = "openshift.io/sa.scc.supplemental-groups"
_LEVEL: Final = "openshift.io/sa.scc.mcs"


@dataclass(frozen=True, slots=True, order=True)
class Ids:
    """User ids of a namespace, now or formerly.

    Args:
        namespace: its name; it need not exist any more.
        first: first uid and gid of its range.
        level: SELinux level, e.g. ``s0:c26,c15``.
        since: ISO date of the day on which ``add team`` gave the range; empty when nobody wrote it
            down.
        former: whether the ledger no longer says so.
        at: its line in the ledger; None when a lockfile remembers it.
    """

    namespace: str
    first: int
    level: str
    since: str = ""
    former: bool = False
    at: Pointer | None = field(default=None, compare=False)

    @property
    def number(self) -> tuple[str, int, str]:
        """Namespace, range and level: two records that agree in these are the same."""
        return (self.namespace, self.first, self.level)

    @property
    def range(self) -> str:
        """The range as OpenShift writes it, e.g. ``1000680000/10000``."""
        return f"{self.first}/{SIZE}"

    @property
    def marks(self) -> dict[str, int | frozenset[str]]:
        """Range and level by field, in a form that compares: the categories of an SELinux level have no order."""
        return {"range": self.first, "level": frozenset(self.level.removeprefix("s0:").split(","))}

    @property
    def is_of_openshift(self) -> bool:
        """Whether OpenShift may have given the range."""
        return self.first < _FIRST

    @property
    def entry(self) -> dict[str, str | int]:
        """The keys and values of its line in the ledger."""
        entry: dict[str, str | int] = {"range": self.range, "level": self.level}
        return {**entry, "since": self.since} if self.since else entry

    @property
    def annotations(self) -> dict[str, str]:
        """Annotations of the namespace."""
        return {_LEVEL: self.level, _GROUPS: self.range, _RANGE: self.range}


def read_ids(
    namespace: str, entry: Mapping[str, str], *, former: bool = False, at: Pointer | None = None
) -> Ids:
    """Return the ids of a namespace from its line in the ledger, at that place, or in a lockfile.

    Raises:
        KeyError, ValueError: it is no such line.
    """
    first, size = entry["range"].split("/")
    if int(size) != SIZE:
        raise ValueError(entry["range"])
    return Ids(namespace, int(first), entry["level"], entry.get("since", ""), former, at)


def ids_of(annotations: Mapping[str, str]) -> tuple[str, ...]:
    """Return range, groups and level from a namespace's annotations; empty when the tree leaves them to OpenShift."""
    return tuple(annotations[key] for key in (_RANGE, _GROUPS, _LEVEL) if key in annotations)


def next_ids(namespace: str, taken: Iterable[Ids], since: str) -> Ids | None:
    """Return the lowest range that OpenShift never gives, where nobody ever had the range or its level, or None."""
    held = {mark for ids in taken for mark in ids.marks.values()}
    blocks = (block for block in range(_BLOCKS) if _FIRST + block * SIZE not in held)
    free = (Ids(namespace, _FIRST + block * SIZE, _level(block), since) for block in blocks)
    return next((ids for ids in free if held.isdisjoint(ids.marks.values())), None)


def _level(block: int) -> str:
    return f"s0:c{_LEVELS + 1 + block // _LEVELS},c{block % _LEVELS}"
