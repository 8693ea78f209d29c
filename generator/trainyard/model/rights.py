"""The rights that reading a cluster needs, as rules of a ClusterRole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trainyard.model.facts import Resource


def rules_of(resources: Iterable[Resource]) -> list[dict[str, Any]]:
    """Return the rules of a ClusterRole that permit to read some kinds.

    There is one for each group, and for each single object. Kinds that are read in one namespace
    are left out.
    """
    groups: dict[str, list[str]] = {}
    alone: list[dict[str, Any]] = []
    for each in resources:
        if each.within:
            continue
        if each.only is None:
            groups.setdefault(each.group, []).append(each.plural)
        else:
            rule = {"apiGroups": [each.group], "resources": [each.plural]}
            rule |= {"resourceNames": [each.only[1]], "verbs": ["get"]}
            alone += [rule] if rule not in alone else []
    listed = (
        {"apiGroups": [group], "resources": sorted(plurals), "verbs": ["get", "list"]}
        for group, plurals in sorted(groups.items())
    )
    return [*listed, *alone]


def rules_within(resources: Iterable[Resource]) -> dict[str, list[dict[str, Any]]]:
    """Return the rules of a Role in each namespace of which some kinds are read there alone."""
    rules: dict[str, list[dict[str, Any]]] = {}
    for each in resources:
        if each.within:
            rule = {"apiGroups": [each.group], "resources": [each.plural]}
            rules.setdefault(each.within, []).append({**rule, "verbs": ["get", "list"]})
    return rules
