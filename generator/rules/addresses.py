"""Address blocks of the teams on a fabric."""

from __future__ import annotations

from collections.abc import Iterator

from generator.diagnostics import Diagnostic, Note, Rule, Severity
from generator.model.cluster import Cluster
from generator.model.fabric import Fabric
from generator.model.platform import Platform
from generator.model.queue import Flavor
from generator.model.team import Allocation
from generator.rules._check import Check
from generator.rules._walk import allocated, held

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
    summary="Address blocks of teams overlap neither each other, nor the fabric's range a network of the cluster.",
    why=f"{_TWICE} A range that a pod has on a rail also hides the same addresses of the cluster from that pod.",
    fix="Take a range that nobody else uses.",
)
ADDRESS_BLOCK_TOO_SMALL = Rule(
    id="fabric/address-block-too-small",
    severity=Severity.ERROR,
    summary="A team's address block, split over the rails, holds an address for each virtual function of its nodes.",
    why=(
        "whereabouts runs out of addresses: the last pods of a large job stay in ContainerCreating and the others"
        " wait for them with all their GPUs."
    ),
    fix="Take a larger free block; nothing else may move, as running pods hold their addresses.",
)


def addresses_outside_range(platform: Platform) -> Iterator[Diagnostic]:
    """Compare each block with its fabric's range."""
    for _, fabric, holders in allocated(platform):
        for team, each in holders:
            if not each.addresses.subnet_of(fabric.addresses):
                message = f"block {each.addresses} of team {team} is not in {fabric.addresses}"
                notes = [Note(f"the range of fabric `{fabric.name}`", fabric.at / "addresses")]
                yield ADDRESSES_OUTSIDE_RANGE.at(each.at / "addresses", message, notes=notes)


def addresses_overlap(platform: Platform) -> Iterator[Diagnostic]:
    """Compare blocks with each other, and ranges with the cluster's own networks."""
    for site, fabric, holders in allocated(platform):
        yield from _overlaps_network(site.cluster, fabric)
        yield from _overlaps_team(holders)


def _overlaps_network(cluster: Cluster, fabric: Fabric) -> Iterator[Diagnostic]:
    for name, network in cluster.networks.items():
        if fabric.addresses.overlaps(network):
            message = f"range {fabric.addresses} of fabric `{fabric.name}` overlaps {network} of the cluster's {name}"
            notes = [Note(f"the cluster's {name}", cluster.at / "networks" / name)]
            yield ADDRESSES_OVERLAP.at(fabric.at / "addresses", message, notes=notes)


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
    """Compare one rail's part of each block with the virtual functions that the team's quota lets it take."""
    for site in platform.sites:
        for tenant in site.tenants:
            for flavor in held(tenant):
                fabric, rails = flavor.pool.fabric, len(flavor.pool.rails)
                block = fabric and platform.allocations.get((site.name, fabric.name, tenant.name))
                if block and rails:
                    yield from _too_small(block, flavor, rails)


def _too_small(block: Allocation, flavor: Flavor, rails: int) -> Iterator[Diagnostic]:
    functions = flavor.pool.hardware.virtual_functions
    need = flavor.quota.reach * functions + NETWORK_AND_BROADCAST
    have = block.addresses.num_addresses >> (rails - 1).bit_length()
    if have < need:
        message = (
            f"block {block.addresses} gives each of {rails} rails {have} addresses; {flavor.quota.reach} nodes"
            f" x {functions} virtual functions need {need} with network and broadcast"
        )
        notes = [Note(f"reaches {flavor.quota.reach} nodes", flavor.quota.at)]
        yield ADDRESS_BLOCK_TOO_SMALL.at(block.at / "addresses", message, notes=notes)


CHECKS = (
    Check(ADDRESSES_OUTSIDE_RANGE, addresses_outside_range),
    Check(ADDRESSES_OVERLAP, addresses_overlap),
    Check(ADDRESS_BLOCK_TOO_SMALL, address_block_too_small),
)
