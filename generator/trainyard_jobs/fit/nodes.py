"""Pods on the nodes of a pool, as Kueue's topology-aware scheduling counts free nodes.

Every topology of the tree is preferred, never required: pods may spread over all of it
(kubernetes-sigs/kueue:pkg/cache/scheduler/tas_flavor_snapshot.go@v0.19.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Amounts = Mapping[str, int]
"""Resource -> base units."""


@dataclass(frozen=True, slots=True)
class Placement:
    """A request for pods that are alike."""

    requests: Amounts
    count: int


def free_nodes(allocatable: Amounts, count: int, used: Iterable[Amounts]) -> list[dict[str, int]]:
    """Return what is free on each node of a pool.

    Args:
        allocatable: of a node.
        count: of nodes.
        used: what pods request on each node that runs some.
    """
    nodes = [dict(allocatable) for _ in range(count)]
    for node, requested in zip(nodes, used, strict=False):
        for name in node:
            node[name] -= requested.get(name, 0)
    return nodes


def unplaced(nodes: list[dict[str, int]], wanted: Iterable[Placement]) -> int:
    """Return how many pods find no node; takes what the others request from the nodes.

    Large pods are placed first, each on the fullest node that has room for it.
    """
    left = 0
    for placement in sorted(wanted, key=_size, reverse=True):
        missing = placement.count
        request = {**placement.requests, "pods": 1}
        for node in sorted(nodes, key=lambda free: sorted(free.items())):
            placed = min(missing, room(node, request))
            missing -= placed
            for name, amount in request.items():
                node[name] = node.get(name, 0) - placed * amount
        left += missing
    return left


def room(node: Amounts, request: Amounts) -> int:
    """Return how many pods a node has room for."""
    return max(0, min(node.get(name, 0) // amount for name, amount in request.items() if amount))


def _size(placement: Placement) -> list[tuple[str, int]]:
    """Return what orders requests: GPUs before CPU before the rest."""
    return sorted(placement.requests.items(), key=lambda pair: ("gpu" not in pair[0], pair[0]))
