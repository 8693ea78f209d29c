"""Sets of labels, addresses and ports, and boxes of them: exact differences of what is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, product
from typing import NamedTuple, TypeAlias


@dataclass(frozen=True, slots=True)
class Values:
    """A set of values of a label: these, or all but these.

    Args:
        members: values; None where the label is not there.
        is_rest: whether the set has all values but these.
    """

    members: frozenset[str | None]
    is_rest: bool = False

    def __bool__(self) -> bool:
        return self.is_rest or bool(self.members)

    def __and__(self, other: Values) -> Values:
        if self.is_rest and other.is_rest:
            return Values(self.members | other.members, is_rest=True)
        if self.is_rest:
            return Values(other.members - self.members)
        if other.is_rest:
            return Values(self.members - other.members)
        return Values(self.members & other.members)

    def __sub__(self, other: Values) -> Values:
        return self & Values(other.members, not other.is_rest)


@dataclass(frozen=True, slots=True)
class Ranges:
    """A set of whole numbers: ports or addresses.

    Args:
        spans: first and last number of each range; sorted, and with a gap between any two.
    """

    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, spans: Iterable[tuple[int, int]]) -> Ranges:
        """Return the numbers of some ranges, which may overlap; one with no number is left out."""
        joined: list[tuple[int, int]] = []
        for first, last in sorted(span for span in spans if span[0] <= span[1]):
            if joined and first <= joined[-1][1] + 1:
                joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
            else:
                joined.append((first, last))
        return cls(tuple(joined))

    @property
    def display(self) -> str:
        """The ranges in one line, e.g. ``0-7`` or ``80, 443``."""
        ranges = (f"{first}" if first == last else f"{first}-{last}" for first, last in self.spans)
        return ", ".join(ranges)

    def __bool__(self) -> bool:
        return bool(self.spans)

    def __and__(self, other: Ranges) -> Ranges:
        both = product(self.spans, other.spans)
        return Ranges.of((max(one[0], two[0]), min(one[1], two[1])) for one, two in both)

    def __sub__(self, other: Ranges) -> Ranges:
        left = self
        for first, last in other.spans:
            left &= Ranges.of([(0, first - 1), (last + 1, LAST_IPV6)])
        return left


class Axis(NamedTuple):
    """A property of a path.

    Args:
        order: in which boxes are divided.
        label: key of the label; empty for other properties.
    """

    order: int
    label: str = ""


OWN, PEER, NAMESPACE, POD = 0, 1, 2, 3
"""Order of labels: of the own pod, of the peer's namespace (2) and of the peer (3)."""

KIND, ADDRESS, PROTOCOL, PORT, PORT_NAME = Axis(PEER), Axis(4), Axis(5), Axis(6), Axis(7)
"""Whether the peer is a pod or an address outside; its address; protocol, number, name of the
port."""

PODS, ADDRESSES = Values(frozenset({"pods"})), Values(frozenset({"addresses"}))

LAST_IPV4, LAST_IPV6 = (1 << 32) - 1, (1 << 32) + (1 << 128) - 1
"""Numbers of addresses: IPv6 begins after the last of IPv4."""

Set: TypeAlias = Values | Ranges

Box: TypeAlias = Mapping[Axis, Set]
"""Paths with these properties; a property that is left out may be anything."""

_FULL: Box = {
    KIND: Values(PODS.members | ADDRESSES.members),
    ADDRESS: Ranges(((0, LAST_IPV6),)),
    PROTOCOL: Values(frozenset({"SCTP", "TCP", "UDP"})),
    PORT: Ranges(((0, 65535),)),
}
_EVERY = Values(frozenset(), is_rest=True)


def common(one: Box, other: Box) -> Box | None:
    """Return the paths that are in both boxes; None when there are none."""
    axes = {
        axis: _and(_at(one, axis), _at(other, axis))
        for axis in sorted({*one.keys(), *other.keys()})
    }
    return axes if all(axes.values()) else None


def without(boxes: Iterable[Box], others: Iterable[Box]) -> list[Box]:
    """Return the paths that are in some of the first boxes and in none of the others."""
    left = list(boxes)
    for other in others:
        pieces = (_cut(box, other) for box in left)
        left = list(chain.from_iterable(pieces))
    return left


def _cut(box: Box, other: Box) -> Iterator[Box]:
    """Yield boxes with the paths of one box that are not in another."""
    if common(box, other) is None:
        yield box
        return
    inside = dict(box)
    for axis in sorted(other):
        here, there = _at(inside, axis), other[axis]
        if outside := _minus(here, there):
            yield {**inside, axis: outside}
        inside[axis] = _and(here, there)


def _at(box: Box, axis: Axis) -> Set:
    return box.get(axis, _FULL.get(axis, _EVERY))


def _and(one: Set, other: Set) -> Set:
    if isinstance(one, Values):
        assert isinstance(other, Values)
        return one & other
    assert isinstance(other, Ranges)
    return one & other


def _minus(one: Set, other: Set) -> Set:
    if isinstance(one, Values):
        assert isinstance(other, Values)
        return one - other
    assert isinstance(other, Ranges)
    return one - other
