"""Paths between pods of namespaces, from the NetworkPolicies of a tree."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from trainyard.change.impact.policies import EGRESS, INGRESS, NAME, allowed
from trainyard.change.impact.sets import KIND, NAMESPACE, OWN, POD, PODS, Axis, Box, Values, common
from trainyard.change.impact.wording import pods_of, port_of
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
    policies: dict[str, list[Mapping[str, Any]]] = {}
    labels: dict[str, Mapping[str, str]] = {}
    for manifest in manifests:
        kind = manifest.kind.name
        if kind == "NetworkPolicy":
            policies.setdefault(manifest.namespace, []).append(mapping(manifest.body, "spec"))
        elif kind == "Namespace":
            own = mapping(manifest.body, "metadata", "labels")
            labels[manifest.name] = {**own, NAME.label: manifest.name}
    return [Namespace(name, labels[name], tuple(policies.get(name, ()))) for name in sorted(labels)]


def paths(source: Namespace, target: Namespace) -> tuple[str, ...]:
    """Return the open paths between two namespaces, e.g. ``jobs to jobs, TCP 443``; sorted.

    A packet passes if the egress of its pod and the ingress of the other both allow it.
    """
    leaving = list(_towards(source.egress, target))
    arriving = [_turned(box) for box in _towards(target.ingress, source)]
    both = (common(one, other) for one in leaving for other in arriving)
    return tuple(sorted({_words(box) for box in both if box is not None}))


def _towards(boxes: Iterable[Box], peer: Namespace) -> Iterator[Box]:
    """Yield the part of boxes that is about pods of a namespace, without the namespace's labels."""
    for box in boxes:
        labels: Box = {
            axis: Values(frozenset({peer.labels.get(axis.label)}))
            for axis in box
            if axis.order == NAMESPACE
        }
        inside = common(box, {KIND: PODS, **labels})
        if inside is not None:
            yield {axis: each for axis, each in inside.items() if axis.order != NAMESPACE}


def _turned(box: Box) -> Box:
    """Return a box as the other end sees it."""
    return {
        Axis(_OTHER_END.get(axis.order, axis.order), axis.label): each for axis, each in box.items()
    }


def _words(box: Box) -> str:
    ends = " to ".join(pods_of(box, order) or "all pods" for order in (OWN, POD))
    return f"{ends}, {port_of(box) or 'all ports'}"
