"""The next free partition and block of a fabric. What any team ever got is never given again."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network

from generator.model.pool import Fabric
from generator.model.team import Allocation

_KEY = 0x7FFF
"""The 15 bits that tell InfiniBand partitions apart; the 16th says how a port is a member.

With all bits set it is the default partition, that of the subnet manager; with none it is invalid.
ib-kubernetes takes no more than these 15 bits (pkg/utils/utils.go).
"""


def next_partition(fabric: Fabric, taken: Iterable[Allocation]) -> int | None:
    """Return the lowest partition of a fabric's range that nobody holds, or None."""
    held = {allocation.partition & _KEY for allocation in taken} | {0, _KEY}
    wanted = range(fabric.first_partition, min(fabric.last_partition, _KEY) + 1)
    return next((partition for partition in wanted if partition not in held), None)


def next_block(fabric: Fabric, taken: Iterable[Allocation]) -> IPv4Network | None:
    """Return the lowest block of a fabric's addresses that meets nobody's, or None."""
    if fabric.block < fabric.addresses.prefixlen:
        return None
    held = [allocation.addresses for allocation in taken]
    blocks = fabric.addresses.subnets(new_prefix=fabric.block)
    return next((block for block in blocks if not any(map(block.overlaps, held))), None)
