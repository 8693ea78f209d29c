"""Namespaces that no path tells apart, so that a large platform has a small matrix."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from trainyard.change.impact.policies import NAME
from trainyard.change.impact.sets import NAMESPACE, Values
from trainyard.report.policies import Namespace

_SHOWN_ALONE = 16  # namespaces of a cluster; more are shown in classes
_UNNAMED = ""
"""Stands for each value of a label that no policy names; a label has no empty value of ours."""


@dataclass(frozen=True, slots=True)
class Class:
    """Namespaces that have the same paths to and from every other one."""

    members: tuple[Namespace, ...]

    @property
    def name(self) -> str:
        """Name of the only member, or that of the first with how many follow."""
        first, *others = self.members
        return f"{first.name} and {len(others)} alike" if others else first.name


def classes(found: Sequence[Namespace], bonds: Mapping[str, Collection[str]]) -> list[Class]:
    """Return the namespaces in classes, or each by itself where there are few.

    Args:
        found: all of a cluster's teams.
        bonds: what else distinguishes a namespace, by its name; the same for all of a class.
    """
    if len(found) <= _SHOWN_ALONE:
        return [Class((namespace,)) for namespace in found]
    named = _named(found)
    groups: dict[tuple[object, ...], list[Namespace]] = defaultdict(list)
    for namespace in found:
        own = tuple(sorted(bonds[namespace.name]))
        groups[namespace.signature, _labels(namespace, named), own].append(namespace)
    return [Class(tuple(members)) for members in groups.values()]


def _named(found: Sequence[Namespace]) -> dict[str, set[str | None]]:
    """Return the values of labels by which policies select namespaces, by key.

    A rule about pods of the own namespace selects by that name; it distinguishes none.
    """
    named: dict[str, set[str | None]] = defaultdict(set)
    for namespace in found:
        for box in (*namespace.ingress, *namespace.egress):
            for axis, values in box.items():
                if axis.order == NAMESPACE and isinstance(values, Values):
                    own = {namespace.name} if axis == NAME else set[str]()
                    named[axis.label] |= values.members - own
    return named


def _labels(namespace: Namespace, named: Mapping[str, set[str | None]]) -> tuple[str | None, ...]:
    """Return a namespace's labels as far as a policy distinguishes them."""
    values = []
    for key in sorted(named):
        value = namespace.labels.get(key)
        values.append(value if value is None or value in named[key] else _UNNAMED)
    return tuple(values)
