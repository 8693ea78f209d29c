"""Read what the NetworkPolicies of a namespace allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv6Network, ip_network
from itertools import product
from typing import Any

from trainyard.change.impact.sets import (
    ADDRESS,
    ADDRESSES,
    KIND,
    LAST_IPV4,
    NAMESPACE,
    OWN,
    POD,
    PODS,
    PORT,
    PORT_NAME,
    PROTOCOL,
    Axis,
    Box,
    Ranges,
    Values,
    common,
    without,
)
from trainyard.model.lookup import mapping, mappings, text, texts

INGRESS, EGRESS = "Ingress", "Egress"
_PEERS = {INGRESS: "from", EGRESS: "to"}

NAME = Axis(NAMESPACE, "kubernetes.io/metadata.name")
"""Name of the peer's namespace, which is one of its labels."""


def allowed(policies: Sequence[Mapping[str, Any]], direction: str, namespace: str) -> list[Box]:
    """Return the paths that NetworkPolicies leave open in one direction.

    A pod that no policy selects may do everything; for others it is what any of their policies
    allows. Source: kubernetes/kubernetes:staging/src/k8s.io/api/networking/v1/types.go@v1.36.0.

    Args:
        policies: ``spec`` of every policy of the namespace.
        direction: ``Ingress`` or ``Egress``.
        namespace: their own.
    """
    selected, open_paths = [], []
    for policy in policies:
        if direction in _types(policy):
            own = _selected(mapping(policy, "podSelector"), OWN)
            selected.append(own)
            for rule in mappings(policy, direction.lower()):
                open_paths += _crossed([own], _peers(rule, direction, namespace), _ports(rule))
    return without([{}], selected) + open_paths


def _types(policy: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the directions of a policy; without ``policyTypes``, they follow from its rules."""
    stated = texts(policy, "policyTypes")
    return stated or ((INGRESS, EGRESS) if policy.get("egress") else (INGRESS,))


def _crossed(*sides: Iterable[Box]) -> list[Box]:
    """Return the paths that have one box of each side."""
    found: list[Box] = []
    for boxes in product(*sides):
        crossed: Box | None = {}
        for box in boxes:
            crossed = common(crossed, box) if crossed is not None else None
        if crossed is not None:
            found.append(crossed)
    return found


def _selected(selector: Mapping[str, Any], order: int) -> Box:
    """Return what a label selector selects; the empty one everything."""
    found: Box = {}
    for key, values in _requirements(selector):
        narrowed = common(found, {Axis(order, key): values})
        if narrowed is None:
            return {Axis(order, key): Values(frozenset())}
        found = narrowed
    return found


def _requirements(selector: Mapping[str, Any]) -> Iterator[tuple[str, Values]]:
    for key, value in mapping(selector, "matchLabels").items():
        yield key, Values(frozenset({str(value)}))
    for requirement in mappings(selector, "matchExpressions"):
        key, operator = text(requirement, "key"), text(requirement, "operator")
        members: frozenset[str | None] = frozenset({None})
        if operator in {"In", "NotIn"}:
            members = frozenset(texts(requirement, "values"))
        yield key, Values(members, is_rest=operator in {"NotIn", "Exists"})


def _peers(rule: Mapping[str, Any], direction: str, namespace: str) -> Iterator[Box]:
    peers = mappings(rule, _PEERS[direction])
    if not peers:
        yield {}
    blocks = [peer["ipBlock"] for peer in peers if "ipBlock" in peer]
    if blocks:
        yield {KIND: ADDRESSES, ADDRESS: Ranges.of(_outside(blocks))}
    for peer in peers:
        if "ipBlock" not in peer:
            yield from _pods(peer, namespace)


_NAMED: Box = {NAME: Values(frozenset({None}), is_rest=True)}


def _pods(peer: Mapping[str, Any], namespace: str) -> Iterator[Box]:
    """Yield the pods that a peer selects: of its own namespace unless it selects namespaces."""
    pods = _selected(mapping(peer, "podSelector"), POD)
    own: Box = {NAME: Values(frozenset({namespace}))}
    chosen = mapping(peer, "namespaceSelector")
    spaces = _selected(chosen, NAMESPACE) if "namespaceSelector" in peer else own
    if NAME in spaces and common(spaces, _NAMED) is None:
        return  # no namespace lacks this label
    yield from _crossed([{KIND: PODS}], [spaces], [pods])


def _outside(blocks: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, int]]:
    for block in blocks:
        excepted = Ranges.of(map(_span, texts(block, "except")))
        yield from (Ranges((_span(text(block, "cidr")),)) - excepted).spans


def _span(cidr: str) -> tuple[int, int]:
    """Return the first and last address of a range as numbers; none if the text is not a range."""
    try:
        network = ip_network(cidr, strict=False)
    except ValueError:
        return (0, -1)
    start = LAST_IPV4 + 1 if isinstance(network, IPv6Network) else 0
    return (start + int(network.network_address), start + int(network.broadcast_address))


def _ports(rule: Mapping[str, Any]) -> Iterator[Box]:
    """Yield the ports of a rule: one box for the numbers of a protocol, one for each name."""
    ports = mappings(rule, "ports")
    if not ports:
        yield {}
    numbers: dict[str, list[tuple[int, int]]] = {}
    for each in ports:
        protocol, port = text(each, "protocol") or "TCP", each.get("port")
        if isinstance(port, str):
            yield {PROTOCOL: _one(protocol), PORT_NAME: _one(port)}
        else:
            numbers.setdefault(protocol, []).append(_numbers(port, each.get("endPort")))
    for protocol, spans in sorted(numbers.items()):
        yield {PROTOCOL: _one(protocol), PORT: Ranges.of(spans)}


def _numbers(port: Any, end: Any) -> tuple[int, int]:
    if not isinstance(port, int):
        return (0, 65535)
    return (port, end if isinstance(end, int) else port)


def _one(value: str) -> Values:
    return Values(frozenset({value}))
