"""The numbers that a fabric has left are those that `trainyard add team` can still give."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Network

import pytest

from tests.rules.cases import platform_of
from trainyard.capacity.fabrics import fabrics_of
from trainyard.capacity.figures import FabricCapacity, Numbers
from trainyard.diagnostics import Pointer
from trainyard.model.cluster import Cluster
from trainyard.model.team import Allocation
from trainyard.scaffold.allocate import next_holding

AT = Pointer("profiles/allocations.yaml")
Ledger = dict[tuple[str, str, str], Allocation]


def cluster(segments: int, addresses: str) -> Cluster:
    """Return the base platform's cluster with smaller ranges."""
    found = platform_of({}).sites[0].cluster
    (fabric,) = found.rail_fabrics
    last = fabric.first_segment + segments - 1
    small = replace(fabric, last_segment=last, addresses=IPv4Network(addresses))
    pools = tuple(replace(pool, fabric=small) for pool in found.pools)
    return replace(found, fabrics=(small,), pools=pools)


def only(of: Cluster, ledger: Ledger) -> FabricCapacity:
    (fabric,) = fabrics_of(of, ledger)
    return fabric


@pytest.mark.parametrize(("segments", "addresses"), [(3, "10.64.0.0/16"), (20, "10.64.0.0/18")])
def test_head_room_is_the_number_of_teams_that_can_be_added(segments: int, addresses: str) -> None:
    """Whichever range ends first."""
    of, ledger = cluster(segments, addresses), Ledger()
    (fabric,) = of.rail_fabrics
    for added in range(only(of, ledger).head_room):
        holding, reasons = next_holding(fabric, "new", "", list(ledger.values()))
        assert holding, reasons
        ledger[of.name, fabric.name, f"team-{added}"] = Allocation(
            AT, holding.segment, holding.addresses
        )

    found = only(of, ledger)
    assert found.head_room == 0
    assert len(found.teams) == found.segments_given == found.blocks_given
    assert next_holding(fabric, "new", "", list(ledger.values()))[0] is None


def test_numbers_of_other_clusters_are_given_and_not_shown() -> None:
    """A block of another size takes each block of the range that it overlaps."""
    of = cluster(8, "10.64.0.0/16")
    first = of.rail_fabrics[0].first_segment
    ledger = {
        ("elsewhere", "ib", "nlp"): Allocation(AT, first, IPv4Network("10.64.0.0/19")),
        (of.name, of.rail_fabrics[0].name, "gone"): Allocation(
            AT, first + 1, IPv4Network("10.64.32.0/24")
        ),
        ("elsewhere", "ib", "far"): Allocation(AT, 9, IPv4Network("10.99.0.0/20")),
    }
    found = only(of, ledger)

    assert (found.segments_given, found.segments) == (2, 8)
    assert (found.blocks_given, found.blocks) == (3, 16)
    display = of.rail_fabrics[0].link.display
    assert found.teams == (Numbers("gone", display(first + 1), "10.64.32.0/24", 32),)
