"""Compare the network paths of namespaces on both sides of a change."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, TypeAlias

from trainyard.change.impact.attachments import attachments, described
from trainyard.change.impact.model import PathChange, Sides
from trainyard.change.impact.policies import EGRESS, INGRESS, allowed
from trainyard.change.impact.sets import Box, without
from trainyard.change.impact.values import differing_or_absent
from trainyard.change.impact.wording import is_everything, lines
from trainyard.change.objects import Objects, of_kind
from trainyard.model.lookup import mapping

_REMOVED = "all traffic: the namespace is deleted"
_MANY = 3
"""Pieces of a rule that are shown one by one; of more, the whole rule is shown."""


def path_changes(sides: Sides) -> tuple[PathChange, ...]:
    """Return the paths that are opened and closed, sorted; equal ones of namespaces once.

    NetworkPolicies filter the pods' network; partitions and VLANs separate the rails, which no
    NetworkPolicy filters.
    """
    found: dict[tuple[str, bool], set[str]] = defaultdict(set)
    for namespace, opened, path in (*_filtered(sides), *_attached(sides)):
        found[path, opened].add(namespace)
    return tuple(
        PathChange(tuple(sorted(namespaces)), opened, path)
        for (path, opened), namespaces in sorted(found.items())
    )


_Found: TypeAlias = Iterator[tuple[str, bool, str]]
"""(namespace, whether it is opened, path)."""


def _attached(sides: Sides) -> _Found:
    before, after = attachments(sides.before), attachments(sides.after)
    for opened, segments in ((True, after - before), (False, before - after)):
        for namespace, path in described(segments):
            yield namespace, opened, path


def _filtered(sides: Sides) -> _Found:
    """Yield the paths of each namespace whose NetworkPolicies differ; equal ones are read once.

    A namespace that neither side makes is there on both.
    """
    made, makes = _made(sides.before), _made(sides.after)
    others = (_named(sides.before) | _named(sides.after)) - made - makes
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


def _named(objects: Objects) -> set[str]:
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
