"""Address blocks of the teams on a fabric."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from ipaddress import IPv4Network

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.cluster import Cluster
from trainyard.model.ipam import IPAMS
from trainyard.model.network import AddressPool
from trainyard.model.platform import Platform
from trainyard.model.team import Allocation
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check
from trainyard.rules._walk import allocated, held, ranges

NETWORK_AND_BROADCAST = 2
"""Addresses of a range that no pod gets."""

_TWICE = "Two hosts answer for one address: connections are set up to the wrong one, or time out now and then."

ADDRESSES_OUTSIDE_RANGE = Rule(
    id="fabric/addresses-outside-range",
    severity=Severity.ERROR,
    summary="A team's address block lies in the range of its fabric.",
    why="The range was agreed with the owners of the networks; other addresses may belong to somebody.",
    fix="Take a free block of the fabric's range.",
)
ADDRESSES_OVERLAP = Rule(
    id="fabric/addresses-overlap",
    severity=Severity.ERROR,
    summary="Blocks of teams overlap neither each other, nor a fabric's range the cluster's networks or a way out.",
    why=(
        f"{_TWICE} A range that a pod has on a rail also hides the same addresses elsewhere from that pod: what it"
        " sends to a service, or out of the cluster, goes to the fabric and times out."
    ),
    fix="Take a range that nobody else uses.",
)
ADDRESS_BLOCK_TOO_SMALL = Rule(
    id="fabric/address-block-too-small",
    severity=Severity.ERROR,
    summary="A team's address block, split over the rails, has an address for each virtual function that it may take.",
    why=(
        "whereabouts runs out of addresses, and nv-ipam, which sets a block aside on each node of the fabric, has none"
        " for the last nodes: pods stay in ContainerCreating there, and the others of the job wait for them with all"
        " their nodes."
    ),
    fix="Take a larger free block; nothing else may move, as running pods hold their addresses.",
)


def addresses_outside_range(platform: Platform) -> Iterator[Diagnostic]:
    """Compare each block with its fabric's range."""
    for site, fabric, holders in allocated(platform):
        cause = f"blocks of teams on fabric `{fabric.name}` of {site.name} are not in {fabric.addresses}"
        for team, each in holders:
            if not each.addresses.subnet_of(fabric.addresses):
                message = f"block {each.addresses} of team {team} is not in {fabric.addresses}"
                notes = [Note(f"the range of fabric `{fabric.name}`", fabric.at / "addresses")]
                yield ADDRESSES_OUTSIDE_RANGE.at(each.at / "addresses", message, notes=notes, cause=cause)


def addresses_overlap(platform: Platform) -> Iterator[Diagnostic]:
    """Compare blocks with each other, and ranges with the cluster's own networks and with what jobs reach outside."""
    for site, fabric, holders in allocated(platform):
        for network, what, at in _networks(site.cluster):
            if fabric.addresses.overlaps(network):
                message = f"range {fabric.addresses} of fabric `{fabric.name}` overlaps {network} of {what}"
                yield ADDRESSES_OVERLAP.at(fabric.at / "addresses", message, notes=[Note(what, at)])
        yield from _overlaps_team(holders)


def _networks(cluster: Cluster) -> Iterator[tuple[IPv4Network, str, Pointer]]:
    for name, network in cluster.networks.items():
        yield network, f"the cluster's {name}", cluster.at / "networks" / name
    for egress, i, network in ranges(cluster):
        if egress.source != "workspaces":
            yield network, f"egress `{egress.name}`", egress.at / "to" / i


def _overlaps_team(holders: list[tuple[str, Allocation]]) -> Iterator[Diagnostic]:
    """Go through the blocks by address: two are apart or one contains the other, so the last large one is enough."""
    largest: tuple[str, Allocation] | None = None
    for team, each in sorted(holders, key=lambda one: (one[1].addresses, one[0])):
        if largest is not None and each.addresses.overlaps(largest[1].addresses):
            other, block = largest
            message = f"block {each.addresses} of team {team} overlaps {block.addresses} of team {other}"
            yield ADDRESSES_OVERLAP.at(
                each.at / "addresses", message, notes=[Note(f"held by {other}", block.at / "addresses")]
            )
        else:
            largest = (team, each)


def address_block_too_small(platform: Platform) -> Iterator[Diagnostic]:
    """Compare one rail's part of each block with what the plugin gives of it: to pods, or to nodes in advance."""
    for site in platform.sites:
        for tenant in site.tenants:
            for pool in (each for each in tenant.address_pools if each.rail == 0):
                in_advance = IPAMS[site.cluster.release.ipam].blocks
                need = _for_nodes(pool) if in_advance else _for_pods(pool, tenant)
                total = sum(number * each for number, _, each, _ in need) + NETWORK_AND_BROADCAST
                have = pool.allocation.addresses.num_addresses >> (pool.rails - 1).bit_length()
                if have < total:
                    each_of = "addresses in advance" if in_advance else "virtual functions"
                    sums = ", ".join(f"{number} {what} x {each} {each_of}" for number, what, each, _ in need)
                    message = (
                        f"block {pool.allocation.addresses} gives each of {pool.rails} rails {have} addresses;"
                        f" {sums} need {total} with network and broadcast"
                    )
                    notes = [Note(f"{number} {what}", at) for number, what, _, at in need]
                    yield ADDRESS_BLOCK_TOO_SMALL.at(pool.allocation.at / "addresses", message, notes=notes)


_Need = list[tuple[Fraction, str, int, Pointer]]
"""Nodes, whose they are, the addresses that each takes, and where that is said."""


def _for_pods(pool: AddressPool, tenant: Tenant) -> _Need:
    """One address a virtual function that the team's quota lets it take at one time."""
    return [
        (
            flavor.quota.reach,
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
        (Fraction(each.nodes), f"nodes of pool `{each.name}`", pool.per_node, each.at / "nodes") for each in pool.pools
    ]


CHECKS = (
    Check(ADDRESSES_OUTSIDE_RANGE, addresses_outside_range, every=("fabrics",)),
    Check(ADDRESSES_OVERLAP, addresses_overlap),
    Check(ADDRESS_BLOCK_TOO_SMALL, address_block_too_small),
)
