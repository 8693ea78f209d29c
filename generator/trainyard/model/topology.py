"""Where nodes are: the levels of switches, racks or blocks above them."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.diagnostics import Pointer

HOSTNAME = "kubernetes.io/hostname"
"""The lowest level of every topology; Kubernetes sets it."""


@dataclass(frozen=True, slots=True)
class Topology:
    """The levels above the nodes of some pools, on any fabric or on none.

    Args:
        at: where its levels are stated: the topology, or the fabric of the same name.
        levels: node labels from the top down; the host itself is added.
        leaf_nodes: nodes in one domain of the lowest level; 0 when the profile doesn't state it.
    """

    name: str
    at: Pointer
    levels: tuple[str, ...]
    leaf_nodes: int

    @property
    def preferred_level(self) -> str:
        """Level that a job prefers to share: one domain of the lowest level."""
        return self.levels[-1] if self.levels else HOSTNAME
