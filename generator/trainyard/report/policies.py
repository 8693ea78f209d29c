"""Paths between pods of namespaces, from the NetworkPolicies of a tree."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from trainyard.change.impact.network import pods_of, port_of
from trainyard.change.impact.policies import EGRESS, INGRESS, NAME, allowed
from trainyard.change.impact.sets import (
    KIND,
    NAMESPACE,
    OWN,
    POD,
    PODS,
    Axis,
    Box,
    Set,
    Values,
    common,
)
from trainyard.model.lookup import mapping
from trainyard.model.manifest import Manifest

_OTHER_END = {OWN: POD, POD: OWN}


@dataclass(frozen=True)
class Namespace:
    """A namespace with its policies.

    Args:
        labels: of the namespace, its name included.
        policies: ``spec`` of each NetworkPolicy.
    """

    name: str
    labels: Mapping[str, str]
    policies: tuple[Mapping[str, Any], ...]

    @cached_property
    def ingress(self) -> list[Box]:
        """What its pods may receive."""
        return allowed(self.policies, INGRESS, self.name)

    @cached_property
    def egress(self) -> list[Box]:
        """What its pods may send."""
        return allowed(self.policies, EGRESS, self.name)

    @cached_property
    def signature(self) -> str:
        """Policies as text, without the namespace's own name."""
        return json.dumps(self.policies, sort_keys=True).replace(json.dumps(self.name), '"self"')


def namespaces(manifests: Iterable[Manifest]) -> list[Namespace]:
    """Return the namespaces of a tree with their policies, by name."""
    policies: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    labels: dict[str, Mapping[str, str]] = {}
    for manifest in manifests:
        kind = manifest.kind.name
        if kind == "NetworkPolicy":
            policies[manifest.namespace].append(mapping(manifest.body, "spec"))
        elif kind == "Namespace":
            own = mapping(manifest.body, "metadata", "labels")
            labels[manifest.name] = {**own, NAME.label: manifest.name}
    return [Namespace(name, labels[name], tuple(policies[name])) for name in sorted(labels)]


def paths(source: Namespace, target: Namespace) -> tuple[str, ...]:
    """Return the open paths between two namespaces, e.g. ``jobs to jobs, TCP 443``; sorted.

    A packet passes if the egress of its pod and the ingress of the other both allow it.
    """
    leaving = _towards(source.egress, target)
    arriving = map(_turned, _towards(target.ingress, source))
    words = set()
    for egress, ingress in product(leaving, arriving):
        both = common(egress, ingress)
        if both is not None:
            words.add(_words(both))
    return tuple(sorted(words))


def _towards(boxes: Iterable[Box], peer: Namespace) -> Iterator[Box]:
    """Yield the part of boxes that is about pods of a namespace, without the namespace's labels."""
    for box in boxes:
        about: dict[Axis, Set] = {KIND: PODS}
        for axis in box:
            if axis.order == NAMESPACE:
                about[axis] = Values(frozenset({peer.labels.get(axis.label)}))
        inside = common(box, about)
        if inside is not None:
            yield {axis: part for axis, part in inside.items() if axis.order != NAMESPACE}


def _turned(box: Box) -> Box:
    """Return a box as the other end sees it."""
    turned = {}
    for axis, part in box.items():
        turned[axis._replace(order=_OTHER_END.get(axis.order, axis.order))] = part
    return turned


def _words(box: Box) -> str:
    own, peer = pods_of(box, OWN) or "all pods", pods_of(box, POD) or "all pods"
    return f"{own} to {peer}, {port_of(box) or 'all ports'}"
