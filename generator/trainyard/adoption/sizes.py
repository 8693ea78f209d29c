"""Compute what a node has, what its system keeps, and what is left for teams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from trainyard.adoption.amounts import read_amount
from trainyard.adoption.model import Kind
from trainyard.model.facts import Body, Facts, place_of
from trainyard.model.hardware import EVICTION_MEMORY, EVICTION_STORAGE, KERNEL_PART
from trainyard.model.importable import PODS
from trainyard.model.lookup import mapping, mappings, text
from trainyard.model.quantity import parse_bytes
from trainyard.scaffold.nodes import Measured

SHARES = {"cpu": "cpu", "memory": "memory", "ephemeralStorage": "ephemeral-storage"}
"""Keys of shares, and their resources."""
MIB, GIB = 1 << 20, 1 << 30
_MOST_MIB = 9_999_999
"""Largest number that a size in a profile may have."""
_OWNERS = frozenset({"DaemonSet", "Node"})
"""Owners of pods that every node has; static pods belong to their Node."""
_NEAR = Fraction(1, 50)
_UNITS = {"cpu": 1000, "pods": 1}
"""Steps in which the system's share counts; memory and disk count in Mi."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Amounts of a node by resource, in base units.

    Args:
        total: as the profile states them.
        system: the share that no team gets.
        kubelet: the part of it that kubelet reserves.
    """

    total: Mapping[str, int]
    system: Mapping[str, int]
    kubelet: Mapping[str, int]

    @property
    def promised(self) -> dict[str, int]:
        """What is left for teams."""
        return {name: self.total[name] - self.system[name] for name in self.total}


def sizes(found: Measured, fields: Mapping[str, Any], daemons: Mapping[str, int]) -> Sizes:
    """Return the sizes of a node: what is left is what kubelet offers, less what daemons request.

    Args:
        found: the nodes.
        fields: of the preset that they match.
        daemons: what they request on a node.

    Raises:
        TreeError: an amount is not a quantity.
    """
    capacity = {name: base(found, "capacity", name) for name in (*SHARES.values(), "pods")}
    offered = {name: base(found, "allocatable", name) for name in capacity}
    total = {
        **capacity,
        "memory": _installed(capacity["memory"], fields),
        "ephemeral-storage": capacity["ephemeral-storage"] // GIB * GIB,
    }
    withheld = {name: max(capacity[name] - offered[name], 0) for name in capacity}
    evicted = int(total["ephemeral-storage"] * EVICTION_STORAGE)
    kubelet = {
        "cpu": max(-(-withheld["cpu"] // 1000), 1) * 1000,
        "memory": _whole_mib(withheld["memory"] - EVICTION_MEMORY),
        "ephemeral-storage": _whole_mib(withheld["ephemeral-storage"] - evicted),
    }
    least = {
        "cpu": kubelet["cpu"],
        "memory": total["memory"] // KERNEL_PART + kubelet["memory"] + EVICTION_MEMORY,
        "ephemeral-storage": kubelet["ephemeral-storage"] + evicted,
        "pods": 1,
    }
    left = {name: max(offered[name] - daemons.get(name, 0), 0) for name in capacity}
    kept = {name: max(total[name] - left[name], least[name]) for name in capacity}
    system = {name: _up(amount, _UNITS.get(name, MIB)) for name, amount in kept.items()}
    return Sizes(total, system, kubelet)


def base(found: Measured, group: str, resource: str) -> int:
    """Return the least amount of a resource that a node has, in base units.

    Raises:
        TreeError: it is not a quantity.
    """
    part = f"node {found.first}: status.{group}"
    amounts = (mapping(node, "status", group).get(resource, "0") for node in found.nodes)
    return min(read_amount(resource, amount, part) for amount in amounts)


def _installed(capacity: int, fields: Mapping[str, Any]) -> int:
    """Return the installed memory: what the kernel shows, and the 64th that it keeps."""
    installed = Fraction(capacity * KERNEL_PART, KERNEL_PART - 1)
    if "memory" in fields:
        stated = parse_bytes(fields["memory"])
        if abs(stated - installed) <= stated * _NEAR:
            return stated
    return ceil(installed / GIB) * GIB


def _whole_mib(amount: int) -> int:
    """Return an amount in whole Mi, at least one; what is less is in the share of the system."""
    return max(amount // MIB, 1) * MIB


def _up(amount: int, unit: int) -> int:
    return -(-amount // unit) * unit


def size(amount: int) -> str:
    """Return an amount in whole Gi if it is one, else in Mi, or in Gi where that is too long."""
    if amount % GIB == 0 or amount // MIB > _MOST_MIB:
        return f"{-(-amount // GIB)}Gi"
    return f"{amount // MIB}Mi"


def daemons_of(kind: Kind, facts: Facts) -> dict[str, int]:
    """Return the most that the daemons of a node request, and how many they are.

    Raises:
        TreeError: a request is not a quantity.
    """
    names = {place_of(node)[1] for node in kind.nodes}
    sums: dict[str, Counter[str]] = {name: Counter() for name in names}
    for pod in facts.of(PODS):
        node = text(pod, "spec", "nodeName")
        if node in names and is_daemon(pod):
            sums[node].update({**requests(pod), "pods": 1})
    return {name: max(each[name] for each in sums.values()) for name in (*SHARES.values(), "pods")}


def is_daemon(pod: Body) -> bool:
    """Return whether each node has such a pod."""
    owners = mappings(dict(pod), "metadata", "ownerReferences")
    return not has_ended(pod) and any(owner.get("kind") in _OWNERS for owner in owners)


def has_ended(pod: Body) -> bool:
    """Return whether a pod has no resources any more."""
    return text(pod, "status", "phase") in {"Succeeded", "Failed"}


def requests(pod: Body) -> Counter[str]:
    """Return what the containers of a pod request together, in base units.

    Args:
        pod: or a template, with the kind and the name of what has it.

    Raises:
        TreeError: an amount is not a quantity.
    """
    part = f"{pod['kind']} {'/'.join(place_of(pod))}"
    found: Counter[str] = Counter()
    for container in _containers(pod):
        asked = mapping(container, "resources", "limits")
        asked = {**asked, **mapping(container, "resources", "requests")}
        found.update({name: read_amount(name, amount, part) for name, amount in asked.items()})
    return found


def _containers(pod: Body) -> Iterator[dict[str, Any]]:
    """Yield the containers of a pod, and those beside them that start first."""
    yield from mappings(dict(pod), "spec", "containers")
    for each in mappings(dict(pod), "spec", "initContainers"):
        if each.get("restartPolicy") == "Always":
            yield each
