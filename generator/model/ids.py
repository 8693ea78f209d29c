"""User ids of a namespace on OpenShift: the range and the SELinux level that its pods run with, as the ledger has them.

OpenShift writes three annotations on a namespace that has no ``openshift.io/sa.scc.uid-range``, and leaves one that has
it alone, even when the others are missing (openshift/cluster-policy-controller:pkg/security/controller). Without the
level no pod is admitted, so all three are written together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from generator.diagnostics import Pointer

SIZE: Final = 10_000
"""Ids of a range, as OpenShift divides its own (``uidAllocatorRange: 1000000000-1999999999/10000``)."""

_FIRST: Final = 2_000_000_000
"""First id that OpenShift never gives: its own ranges end below, and its allocator passes over others."""

_BLOCKS: Final = (2**31 - _FIRST) // SIZE
"""Ranges from there on: Kubernetes takes ids below 2^31."""

_LEVELS: Final = 1000
"""Levels with one first category. OpenShift gives none from c1001 on: 100,000 ranges of five levels end at c1000."""

UIDS: Final = "uids"
"""Key of the ledger, beside a cluster's fabrics."""

_RANGE: Final = "openshift.io/sa.scc.uid-range"
_GROUPS: Final = "openshift.io/sa.scc.supplemental-groups"
_LEVEL: Final = "openshift.io/sa.scc.mcs"


@dataclass(frozen=True, slots=True, order=True)
class Ids:
    """What a namespace has, or had.

    Args:
        namespace: its name; it need not exist any more.
        first: first uid and gid of its range.
        level: SELinux level, e.g. ``s0:c26,c15``.
        since: ISO date of the day on which ``add team`` gave the range; empty when nobody wrote it down.
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
        """What was given and to whom: ids that differ in nothing of this are one."""
        return (self.namespace, self.first, self.level)

    @property
    def range(self) -> str:
        """The range as OpenShift writes it, e.g. ``1000680000/10000``."""
        return f"{self.first}/{SIZE}"

    @property
    def categories(self) -> frozenset[str]:
        """The categories of its level: SELinux takes ``s0:c15,c26`` for ``s0:c26,c15``."""
        return frozenset(self.level.removeprefix("s0:").split(","))

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


def read_ids(namespace: str, entry: Mapping[str, str], *, former: bool = False, at: Pointer | None = None) -> Ids:
    """Return the ids that a line of the ledger, at a place, or of a lockfile gives a namespace.

    Raises:
        KeyError, ValueError: it is no such line.
    """
    first, size = entry["range"].split("/")
    if int(size) != SIZE:
        raise ValueError(entry["range"])
    return Ids(namespace, int(first), entry["level"], entry.get("since", ""), former, at)


def ids_of(annotations: Mapping[str, str]) -> tuple[str, ...]:
    """Return what the annotations of a namespace say of its ids; nothing when OpenShift gives them."""
    return tuple(annotations[key] for key in (_RANGE, _GROUPS, _LEVEL) if key in annotations)


def next_ids(namespace: str, taken: Iterable[Ids], since: str) -> Ids | None:
    """Return the lowest range that OpenShift never gives and nobody ever had, or None."""
    held = {ids.first for ids in taken}
    block = next((block for block in range(_BLOCKS) if _FIRST + block * SIZE not in held), None)
    if block is None:
        return None
    level = f"s0:c{_LEVELS + 1 + block // _LEVELS},c{block % _LEVELS}"
    return Ids(namespace, _FIRST + block * SIZE, level, since)
