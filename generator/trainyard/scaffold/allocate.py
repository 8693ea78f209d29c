"""The next free partition or VLAN and block of a fabric. A number that any team ever got is never given again."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network

from trainyard.model.fabric import Fabric
from trainyard.model.holding import Holding
from trainyard.model.team import Allocation

Taken = Iterable[Allocation | Holding]
"""What teams have, by the ledger, and what they ever had, by the lockfiles."""


def next_segment(fabric: Fabric, taken: Taken) -> int | None:
    """Return the lowest partition or VLAN of a fabric's range that is not taken, or None."""
    held = {allocation.segment & fabric.link.mask for allocation in taken}
    wanted = range(
        max(fabric.first_segment, fabric.link.first), min(fabric.last_segment, fabric.link.last) + 1
    )
    return next((segment for segment in wanted if segment not in held), None)


def next_block(fabric: Fabric, taken: Taken) -> IPv4Network | None:
    """Return the lowest block of a fabric's addresses that overlaps none that is taken, or None."""
    if fabric.block < fabric.addresses.prefixlen:
        return None
    held = [allocation.addresses for allocation in taken]
    blocks = fabric.addresses.subnets(new_prefix=fabric.block)
    return next((block for block in blocks if not any(map(block.overlaps, held))), None)
