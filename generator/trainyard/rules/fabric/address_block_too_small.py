"""Compare one rail's part of each block with what the plugin gives of it: to pods, or to nodes in advance."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.ipam import IPAMS
from trainyard.model.network import AddressPool
from trainyard.model.platform import Platform
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check
from trainyard.rules._iterate import held

NETWORK_AND_BROADCAST = 2
"""Addresses of a range that no pod gets."""


RULE = Rule(
    id="fabric/address-block-too-small",
    severity=Severity.ERROR,
    summary="""
        A team's address block, split over the rails, has an address for each virtual function that
        it may take.
    """,
    why="""
        whereabouts runs out of addresses, and nv-ipam, which sets a block aside on each node of the
        fabric, has none for the last nodes: pods stay in ContainerCreating there, and the others of
        the job wait for them with all their nodes.
    """,
    fix="Take a larger free block; nothing else may move, as running pods hold their addresses.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for tenant in site.tenants:
            for pool in (each for each in tenant.address_pools if each.rail == 0):
                in_advance = IPAMS[site.cluster.release.ipam].blocks
                need = _for_nodes(pool) if in_advance else _for_pods(pool, tenant)
                total = sum(number * each for number, _, each, _ in need) + NETWORK_AND_BROADCAST
                have = pool.allocation.addresses.num_addresses >> (pool.rails - 1).bit_length()
                if have < total:
                    each_of = "addresses in advance" if in_advance else "virtual functions"
                    sums = ", ".join(
                        f"{number} {what} x {each} {each_of}" for number, what, each, _ in need
                    )
                    message = (
                        f"block {pool.allocation.addresses} gives each of {pool.rails} rails "
                        f"{have} addresses; {sums} need {total} with network and broadcast"
                    )
                    notes = [Note(f"{number} {what}", at) for number, what, _, at in need]
                    yield RULE.at(pool.allocation.at / "addresses", message, notes=notes)


_Need = list[tuple[Fraction, str, int, Pointer]]
"""Nodes, whose they are, the addresses that each takes, and where that is said."""


def _for_pods(pool: AddressPool, tenant: Tenant) -> _Need:
    """One address a virtual function that the team's quota lets it take at one time."""
    return [
        (
            flavor.quota.maximum,
            f"nodes of pool `{flavor.pool.name}` in reach",
            flavor.pool.hardware.virtual_functions,
            flavor.quota.at,
        )
        for flavor in held(tenant)
        if flavor.pool.fabric == pool.fabric
    ]


def _for_nodes(pool: AddressPool) -> _Need:
    """A block a node from the second address on, none with the last (nvidia-k8s-ipam:.../allocator.go@0c77ba1)."""
    return [
        (Fraction(each.nodes), f"nodes of pool `{each.name}`", pool.per_node, each.at / "nodes")
        for each in pool.pools
    ]


CHECK = Check(RULE, find)
