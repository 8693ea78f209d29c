"""A team's part of each rail, and the ways out of its namespace."""

from __future__ import annotations

import json
from dataclasses import replace
from ipaddress import IPv4Network
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.diagnostics import Pointer
from generator.model.network import Egress, Network
from generator.model.team import Allocation
from tests.model.shapes import base, nic, node


def networks(block: IPv4Network, rails: int, partition: int = 0x0101) -> list[Network]:
    """Return the networks of a team on every rail of a node."""
    _, known = base()
    hardware = node(nics=tuple(nic(gpu) for gpu in range(rails)))
    allocation = Allocation(Pointer("profiles/allocations.yaml"), partition, block)
    return [replace(known, hardware=hardware, rail=rail, allocation=allocation) for rail in range(rails)]


@st.composite
def blocks(draw: st.DrawFn) -> tuple[IPv4Network, int]:
    """A block and a number of rails that it has room for."""
    prefix, rails = draw(st.integers(8, 28)), draw(st.integers(1, 16))
    return IPv4Network((draw(st.integers(0, 2**prefix - 1)) << (32 - prefix), prefix)), rails


@given(blocks())
def test_rails_have_parts_of_their_own(case: tuple[IPv4Network, int]) -> None:
    """Each part is inside the team's block, none shares an address with another, and all are as large as can be."""
    block, rails = case
    parts = [each.addresses for each in networks(block, rails)]

    assert all(part.subnet_of(block) for part in parts)
    assert not any(one.overlaps(two) for one, two in combinations(parts, 2))
    assert len({part.prefixlen for part in parts}) == 1
    assert 2 * rails * parts[0].num_addresses > block.num_addresses


@given(blocks(), st.integers(1, 0x7FFE))
def test_config_says_partition_and_range(case: tuple[IPv4Network, int], partition: int) -> None:
    """The pkey is text of four hexadecimal digits, and the pool of addresses is named after team and rail."""
    for each in networks(*case, partition):
        config = json.loads(each.config)

        assert (config["pkey"], int(config["pkey"], 16)) == (f"0x{partition:04x}", partition)
        assert IPv4Network(config["ipam"]["range"]) == each.addresses
        assert config["name"] == config["ipam"]["network_name"] == f"nlp-small-rail-{each.rail}"
        assert each.resource == f"openshift.io/small_rail_{each.rail}"


def test_config_is_one_line() -> None:
    """CNI plugins read it, and so do reviewers: no space that could change."""
    (each,) = networks(IPv4Network("10.0.0.0/24"), 1)

    assert " " not in each.config
    assert "\n" not in each.config


JOBSET = "jobset.sigs.k8s.io/jobset-name"


@pytest.mark.parametrize(("source", "operator"), [("jobs", "Exists"), ("workspaces", "DoesNotExist"), ("all", None)])
def test_way_out_is_for_the_pods_that_it_names(source: str, operator: str | None) -> None:
    """Pods of jobs carry JobSet's label and no others do; `all` selects every pod."""
    way = Egress("mirror", Pointer("x"), (), (), (443,), source)

    assert way.pods == ({"matchExpressions": [{"key": JOBSET, "operator": operator}]} if operator else {})
    assert way.policy_name == "egress-mirror"


def test_way_out_leads_to_all_of_its_ranges_and_namespaces() -> None:
    """Each is a peer of its own: the API server joins what stands in one peer by `and`."""
    way = Egress("mirror", Pointer("x"), ("192.0.2.0/28", "192.0.2.16/28"), ("a", "b"), (443, 80), "all")

    assert way.peers == [
        {"ipBlock": {"cidr": "192.0.2.0/28"}},
        {"ipBlock": {"cidr": "192.0.2.16/28"}},
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "a"}}},
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "b"}}},
    ]
    assert way.port_list == [{"port": 443, "protocol": "TCP"}, {"port": 80, "protocol": "TCP"}]
