"""Compare blocks with each other, and ranges with the cluster's own networks and with what jobs reach outside."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.cluster import Cluster
from trainyard.model.platform import Platform
from trainyard.model.team import Allocation
from trainyard.rules._check import Check
from trainyard.rules._iterate import allocated, ranges

_TWICE = (
    "Two hosts answer for one address: connections are set up to the wrong one, or time out "
    "now and then."
)


RULE = Rule(
    id="fabric/addresses-overlap",
    severity=Severity.ERROR,
    summary="""
        Blocks of teams overlap neither each other, nor a fabric's range the cluster's networks or a
        way out.
    """,
    why=f"""
        {_TWICE} A range that a pod has on a rail also hides the same addresses elsewhere from that
        pod: what it sends to a service, or out of the cluster, goes to the fabric and times out.
    """,
    fix="Take a range that nobody else uses.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site, fabric, holders in allocated(platform):
        for network, what, at in _networks(site.cluster):
            if fabric.addresses.overlaps(network):
                message = (
                    f"range {fabric.addresses} of fabric `{fabric.name}` overlaps {network} "
                    f"of {what}"
                )
                yield RULE.at(fabric.at / "addresses", message, notes=[Note(what, at)])
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
            message = (
                f"block {each.addresses} of team {team} overlaps {block.addresses} of team {other}"
            )
            yield RULE.at(
                each.at / "addresses",
                message,
                notes=[Note(f"held by {other}", block.at / "addresses")],
            )
        else:
            largest = (team, each)


CHECK = Check(RULE, find)
