"""Compare one rail's part of each block with the addresses that the plugin takes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.ipam import IPAMS
from trainyard.model.network import AddressPool
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check

NETWORK_AND_BROADCAST = 2
"""Number of addresses of a range that no pod gets."""


RULE = Rule(
    id="fabric/address-block-too-small",
    severity=Severity.ERROR,
    summary="""
        A team's address block, divided by the rails, has an address for each virtual function that
        the team may use.
    """,
    why="""
        Pods stay in ContainerCreating, and the other pods of the job wait for them with all their
        nodes: whereabouts runs out of addresses, and nv-ipam, which reserves a block on each node
        of the fabric, has none for the last nodes.
    """,
    fix="Use a larger free block; change no other block, because running pods use its addresses.",
)


@dataclass(frozen=True, slots=True)
class _Demand:
    """Addresses of one rail that some nodes need.

    Args:
        description: of the nodes, with their number.
        per_node: addresses that each of them takes.
        at: where the number of nodes is defined.
    """

    nodes: Fraction
    description: str
    per_node: int
    at: Pointer


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        in_advance = IPAMS[site.cluster.release.ipam].blocks
        for tenant in site.tenants:
            for pool in tenant.address_pools:
                if pool.rail == 0:
                    demands = list(_for_nodes(pool) if in_advance else _for_pods(pool, tenant))
                    unit = "addresses in advance" if in_advance else "virtual functions"
                    yield from _too_small(pool, demands, unit)


def _too_small(pool: AddressPool, demands: list[_Demand], unit: str) -> Iterator[Diagnostic]:
    block, rails = pool.allocation.addresses, pool.rails
    needed = sum(demand.nodes * demand.per_node for demand in demands) + NETWORK_AND_BROADCAST
    available = pool.allocation.addresses_of_a_rail(rails)
    if available < needed:
        products = (f"{demand.description} x {demand.per_node} {unit}" for demand in demands)
        message = (
            f"block {block} gives each of {rails} rails {available} addresses; "
            f"{', '.join(products)} need {needed} with network and broadcast"
        )
        notes = [Note(demand.description, demand.at) for demand in demands]
        yield RULE.at(pool.allocation.at / "addresses", message, notes=notes)


def _for_pods(pool: AddressPool, tenant: Tenant) -> Iterator[_Demand]:
    """Yield one address for each virtual function that the quota allows the team at one time."""
    for flavor in tenant.flavors:
        if flavor.pool.fabric == pool.fabric:
            nodes, hardware = flavor.quota.maximum, flavor.pool.hardware
            description = f"{flavor.pool.display(nodes)} of pool `{flavor.pool.name}` in the quota"
            yield _Demand(nodes, description, hardware.virtual_functions, flavor.quota.at)


def _for_nodes(pool: AddressPool) -> Iterator[_Demand]:
    """Yield a block for each node from the second address on, and none with the last address.

    Source: nvidia-k8s-ipam:.../allocator.go@0c77ba1.
    """
    for each in pool.pools:
        description = f"{counted(each.nodes, 'node')} of pool `{each.name}`"
        yield _Demand(Fraction(each.nodes), description, pool.per_node, each.at / "nodes")


CHECK = Check(RULE, find)
