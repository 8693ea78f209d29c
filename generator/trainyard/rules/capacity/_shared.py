"""Quota against the hardware that is really there."""

from __future__ import annotations

from fractions import Fraction

from trainyard.model.team import Quota
from trainyard.model.tenant import Tenant


def owned_nodes(owners: list[tuple[Tenant, Quota]]) -> Fraction:
    return sum((quota.nodes for _, quota in owners), Fraction(0))
