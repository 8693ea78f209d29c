"""Nodes of a pool that teams own."""

from __future__ import annotations

from fractions import Fraction

from trainyard.model.team import Quota
from trainyard.model.tenant import Tenant


def owned_nodes(owners: list[tuple[Tenant, Quota]]) -> Fraction:
    """Return the nodes of a pool that all its teams own together; shares count as fractions."""
    return sum((quota.nodes for _, quota in owners), Fraction(0))
