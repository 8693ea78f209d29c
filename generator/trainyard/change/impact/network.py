"""Compare the network paths of namespaces, each described in one line."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, summarize_address_range
from itertools import chain, starmap
from typing import Any, TypeAlias

from trainyard.change.impact.attachments import attached
from trainyard.change.impact.policies import EGRESS, INGRESS, NAME, allowed
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
    Box,
    Ranges,
    Values,
    without,
)
from trainyard.change.impact.values import differing_or_absent
from trainyard.change.objects import Objects, Sides, of_kind
from trainyard.model import names
from trainyard.model.differences import few
from trainyard.model.lookup import mapping


@dataclass(frozen=True, slots=True)
class PathChange:
    """A network path that is opened or closed in some namespaces.

    Args:
        namespaces: whose pods it concerns, sorted.
        path: in one line, e.g. ``egress to 203.0.113.0/28, TCP 443``.
    """

    namespaces: tuple[str, ...]
    opened: bool
    path: str


_REMOVED = "all traffic: the namespace is deleted"
_MANY = 3
"""Pieces of a rule that are shown one by one; of more, the whole rule is shown."""


def path_changes(sides: Sides) -> tuple[PathChange, ...]:
    """Return the paths that are opened and closed, sorted; equal ones of namespaces once.

    NetworkPolicies filter the pods' network; partitions and VLANs separate the rails, which no
    NetworkPolicy filters.
    """
    found: dict[tuple[str, bool], set[str]] = defaultdict(set)
    for namespace, opened, path in (*_filtered(sides), *attached(sides)):
        found[path, opened].add(namespace)
    return tuple(
        PathChange(tuple(sorted(namespaces)), opened, path)
        for (path, opened), namespaces in sorted(found.items())
    )


_Found: TypeAlias = Iterator[tuple[str, bool, str]]
"""(namespace, whether it is opened, path)."""


def _filtered(sides: Sides) -> _Found:
    """Yield the paths of each namespace whose NetworkPolicies differ; equal ones are read once.

    A namespace that neither side makes is there on both.
    """
    made, makes = _made(sides.before), _made(sides.after)
    others = (_of_policies(sides.before) | _of_policies(sides.after)) - made - makes
    before = _policies(sides.before, made | others)
    after = _policies(sides.after, makes | others)
    known: dict[tuple[str, str, str], list[tuple[bool, str]]] = {}
    for namespace, old, new in differing_or_absent(before, after, None):
        texts = _text(old), _text(new)
        key = (namespace if any(namespace in text for text in texts) else "", *texts)
        if key not in known:
            known[key] = list(_compared(old, new, namespace))
        for opened, path in known[key]:
            yield namespace, opened, path


_Specs: TypeAlias = list[dict[str, Any]]


def _policies(objects: Objects, namespaces: set[str]) -> dict[str, _Specs | None]:
    """Return the ``spec`` of each policy of each namespace, in one order."""
    specs: dict[str, list[dict[str, Any]]] = {namespace: [] for namespace in namespaces}
    for policy in of_kind(objects, "NetworkPolicy"):
        if policy.namespace in specs:
            specs[policy.namespace].append(mapping(policy.body, "spec"))
    return {namespace: sorted(every, key=_text) for namespace, every in specs.items()}


def _made(objects: Objects) -> set[str]:
    """Return the namespaces that a tree makes."""
    return {namespace.name for namespace in of_kind(objects, "Namespace")}


def _of_policies(objects: Objects) -> set[str]:
    """Return the namespaces that have a NetworkPolicy."""
    return {policy.namespace for policy in of_kind(objects, "NetworkPolicy")}


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _compared(old: _Specs | None, new: _Specs | None, namespace: str) -> Iterator[tuple[bool, str]]:
    """Yield the paths of one namespace; None where it is not there."""
    if new is None:
        yield False, _REMOVED
        return
    for direction in (INGRESS, EGRESS):
        before = [] if old is None else allowed(old, direction, namespace)
        after = allowed(new, direction, namespace)
        for opened, boxes in ((True, _beyond(after, before)), (False, _beyond(before, after))):
            for path in lines(boxes, direction, namespace):
                yield opened, path


def _beyond(boxes: list[Box], others: list[Box]) -> list[Box]:
    """Return the paths that only the first boxes have.

    Of what is open to everything, and of a rule of which many parts were open, all is returned.
    """
    found = []
    for box in boxes:
        pieces = without([box], others)
        is_whole = is_everything(box) and not all(map(is_everything, pieces))
        found += [box] if pieces and (is_whole or len(pieces) > _MANY) else pieces
    return found


_JOBS, _MPI_JOBS = names.JOB_LABEL, names.MPI_JOB_LABEL
"""A workspace has neither."""

_ABSENT, _PRESENT = Values(frozenset({None})), Values(frozenset({None}), is_rest=True)
_GROUPS = (
    ("MPIJobs", {_JOBS: _ABSENT, _MPI_JOBS: _PRESENT}),
    ("workspaces", {_JOBS: _ABSENT, _MPI_JOBS: _ABSENT}),
    ("workspaces", {_JOBS: _ABSENT}),
    ("jobs", {_JOBS: _PRESENT}),
)
"""Pods with a name of their own, and their labels; the first that fits counts."""

_TO, _FROM = {INGRESS: "to", EGRESS: "of"}, {INGRESS: "from", EGRESS: "to"}
_EVERYTHING = {INGRESS: "all traffic to", EGRESS: "all traffic from"}
_MOST = 8
"""Address ranges that a line shows; of more, it shows the first and counts the others."""


def lines(boxes: Iterable[Box], direction: str, namespace: str) -> tuple[str, ...]:
    """Return a line for each peer, with all of its ports; sorted.

    Args:
        boxes: paths.
        direction: ``Ingress`` or ``Egress``.
        namespace: of the own pods.
    """
    ports: dict[str, set[str]] = defaultdict(set)
    for box in boxes:
        ports[_ends(box, direction, namespace)].add(port_of(box))
    return tuple(sorted(f"{ends}{_joined(each)}" for ends, each in ports.items()))


def is_everything(box: Box) -> bool:
    """Return whether a box has every peer and port of its own pods."""
    return all(axis.order == OWN for axis in box)


def _joined(ports: set[str]) -> str:
    """Return ports after a comma; nothing where one of them is every port."""
    return "" if "" in ports else f", {', '.join(sorted(ports))}"


def _ends(box: Box, direction: str, namespace: str) -> str:
    """Return both ends of a path, e.g. ``egress of jobs to 203.0.113.0/28``."""
    own = pods_of(box, OWN)
    if is_everything(box):
        return f"{_EVERYTHING[direction]} {own or 'all pods'}"
    whose = f" {_TO[direction]} {own}" if own else ""
    return f"{direction.lower()}{whose} {_FROM[direction]} {_peer(box, namespace)}"


def _peer(box: Box, namespace: str) -> str:
    if box.get(KIND) == PODS:
        return f"{pods_of(box, POD) or 'pods'} {_spaces(box, namespace)}"
    if box.get(KIND) == ADDRESSES:
        return _addresses(box.get(ADDRESS))
    return "everywhere"


def _spaces(box: Box, namespace: str) -> str:
    """Return the namespaces of the peer."""
    labels = _labels(box, NAMESPACE)
    name = labels.pop(NAME.label, None)
    others = _conditions(labels)
    if name is None:
        return f"of namespaces with {others}" if others else "of every namespace"
    names = "its own namespace" if name.members == {namespace} else _named(name)
    but = "every namespace but " if name.is_rest else ""
    return f"of {but}{names}{f' with {others}' if others else ''}"


def pods_of(box: Box, order: int) -> str:
    """Return the pods that labels select; empty for every pod."""
    labels = _labels(box, order)
    group = ""
    for name, of_group in _GROUPS:
        if of_group.items() <= labels.items():
            group = name
            for key in of_group:
                del labels[key]
            break
    others = _conditions(labels)
    return f"{group or 'pods'} with {others}" if others else group


def _labels(box: Box, order: int) -> dict[str, Values]:
    return {
        axis.label: values
        for axis, values in sorted(box.items())
        if axis.order == order and axis.label and isinstance(values, Values)
    }


def _conditions(labels: dict[str, Values]) -> str:
    return " and ".join(_condition(key, values) for key, values in labels.items())


def _condition(key: str, values: Values) -> str:
    if values.members == {None}:
        return key if values.is_rest else f"no {key}"
    return f"{key} {'not ' if values.is_rest else ''}{_named(values)}"


def _named(values: Values) -> str:
    return ", ".join(sorted("none" if value is None else value for value in values.members))


def _addresses(addresses: object) -> str:
    if not isinstance(addresses, Ranges):
        return "every address outside"
    ranges = list(chain.from_iterable(starmap(_cidrs, addresses.spans)))
    return ", ".join(ranges) if len(ranges) <= _MOST else few(ranges)


def _cidrs(first: int, last: int) -> Iterator[str]:
    """Yield the ranges of IPv4 and IPv6 between two numbers."""
    if first <= LAST_IPV4:
        end = min(last, LAST_IPV4)
        yield from map(str, summarize_address_range(IPv4Address(first), IPv4Address(end)))
    if last > LAST_IPV4:
        ipv6 = LAST_IPV4 + 1
        start = IPv6Address(max(first, ipv6) - ipv6)
        yield from map(str, summarize_address_range(start, IPv6Address(last - ipv6)))


def port_of(box: Box) -> str:
    """Return the ports of a path, e.g. ``TCP 443``; empty for every port."""
    protocol, ports, name = box.get(PROTOCOL), box.get(PORT), box.get(PORT_NAME)
    parts = [_named(protocol)] if isinstance(protocol, Values) else []
    if isinstance(ports, Ranges) and ports.spans != ((0, 65535),):
        parts.append(ports.display)
    if isinstance(name, Values):
        parts.append(f"port {'not ' if name.is_rest else ''}{_named(name)}")
    return " ".join(parts)
