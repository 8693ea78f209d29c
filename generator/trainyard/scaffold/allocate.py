"""Find the next free partition or VLAN and address block of a fabric.

A number that a team ever had is never given again.
"""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import IPv4Network

from trainyard.diagnostics import Diagnostic
from trainyard.model.fabric import RailFabric
from trainyard.model.holding import Holding
from trainyard.model.team import Allocation
from trainyard.rules.fabric.range_exhausted import RULE as RANGE_EXHAUSTED

Taken = Collection[Allocation | Holding]
"""Numbers that teams have, by the ledger, and that they ever had, by the lockfiles."""


def next_holding(
    fabric: RailFabric, team: str, since: str, taken: Taken
) -> tuple[Holding | None, tuple[Diagnostic, ...]]:
    """Return the numbers that a new team gets on a fabric, or the reasons why none are left.

    Args:
        fabric: that the team's pool is on.
        team: its name.
        since: ISO date that is written beside the numbers; empty to leave it out.
        taken: numbers that are not given again.
    """
    link = fabric.link
    segment, block = next_segment(fabric, taken), next_block(fabric, taken)
    problems = []
    if segment is None:
        first, last = link.display(fabric.first_segment), link.display(fabric.last_segment)
        message = f"no {link.segment} is left from {first} to {last}"
        problems.append(RANGE_EXHAUSTED.at(fabric.at / link.ranges, message))
    if block is None:
        message = f"no block of length /{fabric.block} is left in {fabric.addresses}"
        problems.append(RANGE_EXHAUSTED.at(fabric.at / "addresses", message))
    if segment is None or block is None:
        return None, tuple(problems)
    return Holding(fabric.name, team, link.field, segment, block, since), ()


def next_segment(fabric: RailFabric, taken: Taken) -> int | None:
    """Return the lowest partition or VLAN of a fabric's range that is not taken, or None."""
    held = {allocation.segment & fabric.link.mask for allocation in taken}
    return next((segment for segment in fabric.segments if segment not in held), None)


def next_block(fabric: RailFabric, taken: Taken) -> IPv4Network | None:
    """Return the lowest block of a fabric's addresses that overlaps none that is taken, or None."""
    if fabric.block < fabric.addresses.prefixlen:
        return None
    held = [allocation.addresses for allocation in taken]
    for block in fabric.addresses.subnets(new_prefix=fabric.block):
        if not any(map(block.overlaps, held)):
            return block
    return None
