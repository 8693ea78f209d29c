"""Count the partitions or VLANs and the addresses that the teams of a fabric have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import TypeAlias

from trainyard.capacity.figures import FabricCapacity, Numbers
from trainyard.model.cluster import Cluster
from trainyard.model.fabric import RailFabric
from trainyard.model.team import Allocation

Ledger: TypeAlias = Mapping[tuple[str, str, str], Allocation]
"""(cluster, fabric, team) -> what the team holds."""


def fabrics_of(cluster: Cluster, ledger: Ledger) -> Iterator[FabricCapacity]:
    """Yield the fabrics of a cluster; a number that a team of another cluster has is given too."""
    for fabric in cluster.rail_fabrics:
        given: set[int] = set()
        blocks: set[int] = set()
        for allocation in ledger.values():
            given.add(allocation.segment & fabric.link.mask)
            blocks.update(_slots(fabric, allocation.addresses))
        yield FabricCapacity(
            name=fabric.name,
            unit=fabric.link.segment,
            rails=cluster.rails_of(fabric),
            segments=len(fabric.segments),
            segments_given=len(given.intersection(fabric.segments)),
            blocks=fabric.addresses.num_addresses >> (32 - fabric.block),
            blocks_given=len(blocks),
            prefix=fabric.block,
            teams=tuple(_teams(cluster, fabric, ledger)),
        )


def _slots(fabric: RailFabric, block: IPv4Network) -> range:
    """Return the numbers of the fabric's blocks that overlap a block."""
    if not block.overlaps(fabric.addresses):
        return range(0)
    size = 32 - fabric.block
    first = max(int(block.network_address), int(fabric.addresses.network_address))
    last = min(int(block.broadcast_address), int(fabric.addresses.broadcast_address))
    return range(first >> size, (last >> size) + 1)


def _teams(cluster: Cluster, fabric: RailFabric, ledger: Ledger) -> Iterator[Numbers]:
    rails = cluster.rails_of(fabric)
    for (where, name, team), held in sorted(ledger.items()):
        if (where, name) == (cluster.name, fabric.name):
            yield Numbers(
                team=team,
                segment=fabric.link.display(held.segment),
                addresses=str(held.addresses),
                per_rail=held.addresses_of_a_rail(rails) if rails else 0,
            )
