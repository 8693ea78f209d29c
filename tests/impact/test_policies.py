"""NetworkPolicies as sets of paths, against an evaluator of single paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address, ip_network
from itertools import product
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.impact.policies import EGRESS, INGRESS, NAME, allowed
from trainyard.impact.sets import (
    ADDRESS,
    KIND,
    LAST_IPV4,
    NAMESPACE,
    OWN,
    POD,
    PORT,
    PORT_NAME,
    PROTOCOL,
    Axis,
    Box,
    Ranges,
    Values,
    without,
)

Labels = dict[str, str]
HERE = "team-nlp"
ROLE, TEAM = "role", "team"


class Path(NamedTuple):
    """One connection of a pod: its labels, the peer and the port.

    Args:
        namespace: labels of a pod's namespace; None of an address outside.
    """

    own: Labels
    namespace: Labels | None
    pod: Labels
    address: str
    protocol: str
    port: int
    port_name: str


def is_selected(selector: Mapping[str, Any], labels: Labels) -> bool:
    """Judge labels as the API server does."""

    def holds(each: Mapping[str, Any]) -> bool:
        has, values = labels.get(each["key"]), each.get("values", ())
        return {
            "In": has in values,
            "NotIn": has not in values,
            "Exists": has is not None,
            "DoesNotExist": has is None,
        }[each["operator"]]

    exact = selector.get("matchLabels", {})
    return all(labels.get(key) == value for key, value in exact.items()) and all(
        map(holds, selector.get("matchExpressions", ()))
    )


def is_peer(peer: Mapping[str, Any], path: Path) -> bool:
    if "ipBlock" in peer:
        if path.namespace is not None:
            return False
        address, block = ip_address(path.address), peer["ipBlock"]
        return address in ip_network(block["cidr"]) and not any(
            address in ip_network(each) for each in block.get("except", ())
        )
    if path.namespace is None:
        return False
    if "namespaceSelector" in peer:
        is_near = is_selected(peer["namespaceSelector"], path.namespace)
    else:
        is_near = path.namespace[NAME.label] == HERE
    return is_near and is_selected(peer.get("podSelector", {}), path.pod)


def is_port(port: Mapping[str, Any], path: Path) -> bool:
    if port.get("protocol", "TCP") != path.protocol:
        return False
    if isinstance(port.get("port"), str):
        return bool(port["port"] == path.port_name)
    if "port" not in port:
        return True
    return bool(port["port"] <= path.port <= port.get("endPort", port["port"]))


def is_open(policies: Sequence[Mapping[str, Any]], direction: str, path: Path) -> bool:
    """Judge one path as a network plugin does."""
    side = {INGRESS: "from", EGRESS: "to"}[direction]
    chosen = [
        each
        for each in policies
        if direction in each["policyTypes"] and is_selected(each["podSelector"], path.own)
    ]
    if not chosen:
        return True
    return any(
        (not rule.get(side) or any(is_peer(each, path) for each in rule[side]))
        and (not rule.get("ports") or any(is_port(each, path) for each in rule["ports"]))
        for policy in chosen
        for rule in policy.get(direction.lower(), ())
    )


def is_inside(box: Box, path: Path) -> bool:
    """Return whether a box has a path."""
    return all(has(values, at(axis, path)) for axis, values in box.items())


def has(values: Values | Ranges, value: Any) -> bool:
    if isinstance(values, Values):
        return (value in values.members) is not values.is_rest
    return value is not None and any(first <= value <= last for first, last in values.spans)


def at(axis: Axis, path: Path) -> Any:
    labels = {OWN: path.own, NAMESPACE: path.namespace or {}, POD: path.pod}
    if axis.label:
        return labels[axis.order].get(axis.label)
    address = ip_address(path.address)
    return {
        KIND: "addresses" if path.namespace is None else "pods",
        ADDRESS: int(address) + (LAST_IPV4 + 1 if address.version == 6 else 0),
        PROTOCOL: path.protocol,
        PORT: path.port,
        PORT_NAME: path.port_name or None,
    }[axis]


def paths() -> Iterator[Path]:
    """Yield one path of each sort that the strategies below can tell apart."""
    pods: list[Labels] = [{}, {ROLE: "a"}, {ROLE: "b"}, {ROLE: "other"}]
    spaces: list[Labels] = [
        {NAME.label: name, **team}
        for name in (HERE, "dns", "other")
        for team in ({}, {TEAM: "a"}, {TEAM: "other"})
    ]
    addresses = ("10.0.0.1", "10.0.0.9", "10.1.0.1", "192.0.2.1", "fd00::1", "2001:db8::1")
    peers: list[tuple[Labels | None, Labels, str]] = [
        *((None, {}, address) for address in addresses),
        *((space, pod, "10.0.0.1") for space, pod in product(spaces, pods)),
    ]
    ports = [("TCP", 443, ""), ("TCP", 8001, "http"), ("TCP", 1, "http"), ("UDP", 443, "")]
    for own, peer, port in product(pods, peers, [*ports, ("SCTP", 1, ""), ("TCP", 9000, "")]):
        yield Path(own, *peer, *port)


PATHS = tuple(paths())


def selectors(key: str, values: Sequence[str]) -> st.SearchStrategy[dict[str, Any]]:
    some = st.lists(st.sampled_from(values), min_size=1, max_size=2)
    exact = st.sampled_from(values).map(lambda value: {"matchLabels": {key: value}})
    listed = st.tuples(st.sampled_from(["In", "NotIn"]), some).map(
        lambda each: {"matchExpressions": [{"key": key, "operator": each[0], "values": each[1]}]}
    )
    either = st.sampled_from(["Exists", "DoesNotExist"]).map(
        lambda operator: {"matchExpressions": [{"key": key, "operator": operator}]}
    )
    return st.just({}) | exact | listed | either


ROLES = selectors(ROLE, ["a", "b"])
SPACES = selectors(NAME.label, [HERE, "dns"]) | selectors(TEAM, ["a"])
BLOCKS = st.sampled_from(
    [
        {"cidr": "0.0.0.0/0"},
        {"cidr": "10.0.0.0/8"},
        {"cidr": "10.0.0.0/8", "except": ["10.0.0.0/24"]},
        {"cidr": "10.0.0.0/29"},
        {"cidr": "fd00::/8"},
        {"cidr": "::/0"},
    ]
)
PEERS = (
    BLOCKS.map(lambda block: {"ipBlock": block})
    | ROLES.map(lambda pods: {"podSelector": pods})
    | SPACES.map(lambda spaces: {"namespaceSelector": spaces})
    | st.tuples(SPACES, ROLES).map(
        lambda each: {"namespaceSelector": each[0], "podSelector": each[1]}
    )
)
PORTS = st.sampled_from(
    [
        {"port": 443},
        {"port": 443, "protocol": "UDP"},
        {"port": 8000, "endPort": 9000, "protocol": "TCP"},
        {"protocol": "SCTP"},
        {"port": "http"},
    ]
)


def rules(side: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    rule = st.fixed_dictionaries(
        {}, optional={side: st.lists(PEERS, max_size=2), "ports": st.lists(PORTS, max_size=2)}
    )
    return st.lists(rule, max_size=2)


POLICIES = st.lists(
    st.fixed_dictionaries(
        {
            "podSelector": ROLES,
            "policyTypes": st.sampled_from([[INGRESS], [EGRESS], [INGRESS, EGRESS]]),
        },
        optional={"ingress": rules("from"), "egress": rules("to")},
    ),
    max_size=3,
)
DIRECTIONS = st.sampled_from([INGRESS, EGRESS])


@given(POLICIES, DIRECTIONS)
def test_boxes_have_exactly_the_paths_that_are_open(
    policies: list[dict[str, Any]], direction: str
) -> None:
    """Some box has a path when the policies leave it open."""
    boxes = allowed(policies, direction, HERE)

    for path in PATHS:
        assert any(is_inside(box, path) for box in boxes) is is_open(policies, direction, path)


@given(POLICIES, POLICIES, DIRECTIONS)
def test_difference_has_exactly_the_paths_that_become_open(
    before: list[dict[str, Any]], after: list[dict[str, Any]], direction: str
) -> None:
    """Nothing that was open is opened, and nothing that is opened is left out."""
    boxes = without(allowed(after, direction, HERE), allowed(before, direction, HERE))

    for path in PATHS:
        becomes_open = is_open(after, direction, path) and not is_open(before, direction, path)
        assert any(is_inside(box, path) for box in boxes) is becomes_open


def test_the_paths_tell_the_policies_apart() -> None:
    """The properties above compare paths of each sort, both open and closed."""
    assert len({path.address for path in PATHS}) == 6
    for block, expected in (({"cidr": "10.0.0.0/8"}, 3), ({"cidr": "::/0"}, 2)):
        policy = {"podSelector": {}, "policyTypes": [EGRESS]}
        rule = {"to": [{"ipBlock": block}]}
        seen = {
            path.address
            for path in PATHS
            if path.namespace is None and is_open([{**policy, "egress": [rule]}], EGRESS, path)
        }
        assert len(seen) == expected


@pytest.mark.parametrize(
    ("policy", "directions"),
    [
        ({"podSelector": {}}, {INGRESS}),
        ({"podSelector": {}, "egress": [{}]}, {INGRESS, EGRESS}),
        ({"podSelector": {}, "policyTypes": [EGRESS]}, {EGRESS}),
    ],
)
def test_directions_follow_from_the_rules_without_types(
    policy: dict[str, Any], directions: set[str]
) -> None:
    """Kubernetes sets them so when an object is created."""
    limited = {each for each in (INGRESS, EGRESS) if {} not in allowed([policy], each, HERE)}

    assert limited == directions - ({EGRESS} if policy.get("egress") == [{}] else set())


def test_policy_of_the_wrong_shape_allows_nothing() -> None:
    """A committed file may have been edited by hand."""
    broken = {"podSelector": [], "policyTypes": [EGRESS], "egress": [{"to": [{"ipBlock": 1}]}]}

    assert all(not all(box.values()) for box in allowed([broken], EGRESS, HERE))
