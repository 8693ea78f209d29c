"""User ids of a namespace on OpenShift, from the ledger: the range and SELinux level of its pods.

OpenShift writes three annotations on a namespace that has no ``openshift.io/sa.scc.uid-range``, and
leaves one that has it alone, even when the others are missing
(openshift/cluster-policy-controller:pkg/security/controller). Without the level no pod is admitted,
so all three are written together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
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

RANGE: Final = "openshift.io/sa.scc.uid-range"
GROUPS: Final = "openshift.io/sa.scc.supplemental-groups"
LEVEL: Final = "openshift.io/sa.scc.mcs"


@dataclass(frozen=True, slots=True, order=True)
class Ids:
    """User ids of a namespace, now or formerly.

    Args:
        namespace: its name; it need not exist any more.
        first: first uid and gid of its range.
        level: SELinux level, e.g. ``s0:c26,c15``.
        since: ISO date of the day on which ``add team`` gave the range; empty when it is not
            recorded.
        former: whether the ledger no longer has it.
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
    def holder(self) -> str:
        """The namespace."""
        return self.namespace

    def held_by(self, namespace: str) -> Ids:
        """Return the ids as those of another namespace."""
        return replace(self, namespace=namespace)

    @property
    def value(self) -> tuple[int, str]:
        """The number without its namespace; that of a renamed team has one of another name."""
        return (self.first, self.level)

    @property
    def range(self) -> str:
        """The range as OpenShift writes it, e.g. ``1000680000/10000``."""
        return f"{self.first}/{SIZE}"

    @property
    def marks(self) -> dict[str, int | frozenset[str]]:
        """Range and level by field, comparable: an SELinux level's categories have no order."""
        return {"range": self.first, "level": frozenset(self.level.removeprefix("s0:").split(","))}

    @property
    def is_of_openshift(self) -> bool:
        """Return whether OpenShift may have given the range."""
        return self.first < _FIRST

    @property
    def entry(self) -> dict[str, str | int]:
        """The keys and values of its line in the ledger."""
        entry: dict[str, str | int] = {"range": self.range, "level": self.level}
        return {**entry, "since": self.since} if self.since else entry


def read_ids(
    namespace: str, entry: Mapping[str, str], *, former: bool = False, at: Pointer | None = None
) -> Ids:
    """Return the ids of a namespace from its line in the ledger, at that place, or in a lockfile.

    Raises:
        KeyError, ValueError: it is not such a line.
    """
    first, size = entry["range"].split("/")
    if int(size) != SIZE:
        raise ValueError(entry["range"])
    return Ids(namespace, int(first), entry["level"], entry.get("since", ""), former, at)


def ids_of(annotations: Mapping[str, str]) -> tuple[str, ...]:
    """Return range, groups and level from annotations; empty if OpenShift adds them."""
    return tuple(annotations[key] for key in (RANGE, GROUPS, LEVEL) if key in annotations)


def next_ids(namespace: str, taken: Iterable[Ids], since: str) -> Ids | None:
    """Return the lowest range that OpenShift never gives and no namespace ever had, or None.

    Its level must be as new as the range.
    """
    held = set(chain.from_iterable(ids.marks.values() for ids in taken))
    for block in range(_BLOCKS):
        ids = Ids(namespace, _FIRST + block * SIZE, _level(block), since)
        if held.isdisjoint(ids.marks.values()):
            return ids
    return None


def _level(block: int) -> str:
    return f"s0:c{_LEVELS + 1 + block // _LEVELS},c{block % _LEVELS}"
