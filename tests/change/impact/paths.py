"""Single paths of a pod, a judge of them, and random NetworkPolicies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address, ip_network
from itertools import product
from typing import Any, NamedTuple

from hypothesis import strategies as st

from trainyard.change.impact.policies import EGRESS, INGRESS, NAME

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
