"""Compare blocks with each other, and ranges with cluster networks and egress rules."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.cluster import Cluster
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import Held, allocated, held_by_network, ranges

RULE = Rule(
    id="fabric/addresses-overlap",
    severity=Severity.ERROR,
    summary="""
        Blocks of teams do not overlap each other on one network. A fabric's range does not overlap
        the cluster's networks, an egress rule or a name server.
    """,
    why="""
        Connections reach the wrong host, or time out now and then, because two hosts answer for one
        address. The range that a pod has on a rail also hides the same addresses elsewhere from
        that pod: packets to a service, or out of the cluster, go to the fabric and time out.
    """,
    fix="Use a range that no other network uses.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site, fabric, _ in allocated(platform):
        for network, owner, at in _networks(site.cluster):
            if fabric.addresses.overlaps(network):
                message = (
                    f"range {fabric.addresses} of fabric `{fabric.name}` overlaps {network} "
                    f"of {owner}"
                )
                yield RULE.at(fabric.at / "addresses", message, notes=[Note(owner, at)])
    for held in held_by_network(platform):
        yield from _overlapping_blocks(held)


def _networks(cluster: Cluster) -> Iterator[tuple[IPv4Network, str, Pointer]]:
    """Yield each network that pods must still reach, with its owner and its place."""
    for name, network in cluster.networks.items():
        yield network, f"the cluster's {name}", cluster.at / "networks" / name
    for egress, i, network in ranges(cluster):
        if egress.source != "workspaces":
            yield network, f"egress rule `{egress.name}`", egress.at / "to" / i
    for i, address in enumerate(cluster.dns.addresses):
        yield IPv4Network(address), "the name servers", cluster.dns.at / "addresses" / i


def _overlapping_blocks(network: list[Held]) -> Iterator[Diagnostic]:
    """Compare each block, in order of addresses, with the last one that no other contains.

    That is enough, because two blocks are apart or one contains the other.
    """
    largest: Held | None = None
    for each in sorted(network, key=lambda held: (held.numbers.addresses, held.team)):
        if largest is not None and each.numbers.addresses.overlaps(largest.numbers.addresses):
            message = (
                f"block {each.numbers.addresses} of {each.holder(largest)} overlaps "
                f"{largest.numbers.addresses} of {largest.holder(each)}"
            )
            at = largest.numbers.at / "addresses"
            notes = [Note(f"the block of {largest.holder(each)}", at)]
            yield RULE.at(each.numbers.at / "addresses", message, notes=notes)
        else:
            largest = each


CHECK = Check(RULE, find)
