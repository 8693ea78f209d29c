"""A team's part of each rail, and the egress rules of its namespace."""

from __future__ import annotations

import json
from dataclasses import replace
from ipaddress import IPv4Network
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.shapes import AT, fabric, networks, node, pool
from trainyard.diagnostics import Pointer
from trainyard.model.link import ROCE
from trainyard.model.network import AddressPool, Egress
from trainyard.model.team import Allocation
from trainyard.render.views.network import AddressPoolView, EgressView, NetworkView

IB, ETH = fabric(), fabric(ROCE, name="eth", first_segment=100, last_segment=199)


@st.composite
def blocks(draw: st.DrawFn) -> tuple[IPv4Network, int]:
    """A block and a number of rails that it has room for."""
    prefix, rails = draw(st.integers(8, 28)), draw(st.integers(1, 16))
    return IPv4Network((draw(st.integers(0, 2**prefix - 1)) << (32 - prefix), prefix)), rails


@given(blocks())
def test_rails_have_parts_of_their_own(case: tuple[IPv4Network, int]) -> None:
    """Each part is inside the team's block, none shares an address with another, and all are as
    large as can be."""
    block, rails = case
    parts = [each.addresses.addresses for each in networks(IB, block, 0x0101, rails)]

    assert all(part.subnet_of(block) for part in parts)
    assert not any(one.overlaps(two) for one, two in combinations(parts, 2))
    assert len({part.prefixlen for part in parts}) == 1
    assert 2 * rails * parts[0].num_addresses > block.num_addresses


@given(blocks(), st.integers(1, 0x7FFE))
def test_config_has_partition_and_range(case: tuple[IPv4Network, int], partition: int) -> None:
    """The pkey is text of four hexadecimal digits, and the pool of addresses is named after team
    and rail."""
    block, rails = case
    for rail, each in enumerate(networks(IB, block, partition, rails)):
        config = json.loads(NetworkView(each).infiniband_config)

        assert (config["pkey"], int(config["pkey"], 16)) == (f"0x{partition:04x}", partition)
        assert IPv4Network(config["ipam"]["range"]) == each.addresses.addresses
        assert config["name"] == config["ipam"]["network_name"] == f"nlp-ib-rail-{rail}"
        assert each.name == f"ib-rail-{rail}"
        assert NetworkView(each).resource == f"openshift.io/ib_rail_{rail}"


@pytest.mark.parametrize("ipam", ["whereabouts", "nv-ipam"])
def test_config_is_one_line(ipam: str) -> None:
    """CNI plugins read it, and so do reviewers: no space that could change, none that the operator
    would drop."""
    (known,) = networks(IB, IPv4Network("10.0.0.0/24"), 0x0101, 1)
    each = replace(known, release=replace(known.release, ipam=ipam))

    for config in (NetworkView(each).infiniband_config, NetworkView(each).ipam):
        assert not set(config) & set(" \n\t")
    assert json.loads(NetworkView(each).infiniband_config)["ipam"] == json.loads(
        NetworkView(each).ipam
    )


@given(blocks(), st.integers(2, 4094))
def test_namespaces_of_a_team_share_its_addresses(case: tuple[IPv4Network, int], vlan: int) -> None:
    """A pool of addresses is the team's: two namespaces never hand out one address twice, in
    whatever plugin."""
    block, rails = case
    both = networks(ETH, block, vlan, rails, ["team-nlp", "team-nlp-dev"])
    one, two = both[:rails], both[rails:]

    for own, other in zip(one, two, strict=True):
        assert json.loads(NetworkView(own).ipam) == json.loads(NetworkView(other).ipam)
        assert json.loads(NetworkView(own).ipam)["network_name"] == own.addresses.name
        assert (own.segment, own.display) == (other.segment, other.display) == (vlan, str(vlan))
        assert NetworkView(own).resource == NetworkView(other).resource
    assert len({each.addresses.name for each in one}) == rails


def test_networks_of_an_operator_have_names_of_their_own() -> None:
    """All of its objects are in one namespace; our own attachments have one name in every
    namespace."""
    namespaces = ["team-nlp", "team-nlp-dev"]
    block = IPv4Network("10.0.0.0/24")

    assert [each.name for each in networks(ETH, block, 101, 1, namespaces)] == [
        "team-nlp-eth-rail-0",
        "team-nlp-dev-eth-rail-0",
    ]
    assert [each.name for each in networks(IB, block, 0x101, 1, namespaces)] == ["ib-rail-0"] * 2


@given(blocks())
def test_pool_of_addresses_is_in_the_config_or_named_there(case: tuple[IPv4Network, int]) -> None:
    """With nv-ipam only the IPPool has the range, and each network names the one of its
    rail."""
    block, rails = case
    for known in networks(ETH, block, 101, rails):
        each = replace(known, release=replace(known.release, ipam="nv-ipam"))
        assert json.loads(NetworkView(each).ipam) == {
            "type": "nv-ipam",
            "poolName": known.addresses.name,
        }
        assert IPv4Network(known.addresses.subnet) == known.addresses.addresses


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 127)), min_size=1, max_size=4))
def test_every_node_of_the_fabric_gets_addresses_for_all_functions(
    kinds: list[tuple[str, int]],
) -> None:
    """A pool selects each kind of node once; it sets aside an address for each function, but two at
    least."""
    pools = tuple(
        pool(node(labels={"kind": label, "fast": "yes"}, virtual_functions=functions), ETH)
        for label, functions in kinds
    )
    held = Allocation(Pointer("x"), 101, IPv4Network("10.0.0.0/20"))
    each = AddressPool("nlp", ETH, 0, 1, pools, held)

    assert each.per_node == max(2, *(functions for _, functions in kinds))
    assert AddressPoolView(each).node_terms == [
        {
            "matchExpressions": [
                {"key": "kind", "operator": "In", "values": [label]},
                {"key": "fast", "operator": "In", "values": ["yes"]},
            ]
        }
        for label in sorted({label for label, _ in kinds})
    ]


JOBSET, MPI = "jobset.sigs.k8s.io/jobset-name", "training.kubeflow.org/job-name"


@pytest.mark.parametrize(
    ("source", "labels"),
    [
        ("jobs", {JOBSET: "Exists"}),
        ("mpijobs", {JOBSET: "DoesNotExist", MPI: "Exists"}),
        ("workspaces", {JOBSET: "DoesNotExist"}),
        ("workspaces beside mpijobs", {JOBSET: "DoesNotExist", MPI: "DoesNotExist"}),
        ("all", {}),
    ],
)
def test_egress_rule_is_for_the_pods_of_its_source(source: str, labels: dict[str, str]) -> None:
    """Pods of jobs carry JobSet's label or the MPI operator's; `all` selects every pod."""
    way = Egress("mirror", AT, (), (), (443,), source)

    expressions = [{"key": key, "operator": operator} for key, operator in labels.items()]
    assert EgressView(way).pods == ({"matchExpressions": expressions} if labels else {})
    assert EgressView(way).policy_name == "egress-mirror"


def test_egress_rule_has_all_of_its_ranges_and_namespaces() -> None:
    """Each is a peer of its own: the API server joins the conditions of one peer by `and`."""
    way = Egress("mirror", AT, ("192.0.2.0/28", "192.0.2.16/28"), ("a", "b"), (443, 80), "all")

    assert EgressView(way).peers == [
        {"ipBlock": {"cidr": "192.0.2.0/28"}},
        {"ipBlock": {"cidr": "192.0.2.16/28"}},
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "a"}}},
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "b"}}},
    ]
    assert EgressView(way).port_list == [
        {"port": 443, "protocol": "TCP"},
        {"port": 80, "protocol": "TCP"},
    ]
