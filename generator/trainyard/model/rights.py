"""The rights that reading a cluster needs, as rules of a ClusterRole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trainyard.model.facts import Resource


def rules_of(resources: Iterable[Resource]) -> list[dict[str, Any]]:
    """Return the rules that permit to read some kinds: one for each group, and for each object."""
    groups: dict[str, list[str]] = {}
    alone: list[dict[str, Any]] = []
    for each in resources:
        if each.only is None:
            groups.setdefault(each.group, []).append(each.plural)
        else:
            rule = {"apiGroups": [each.group], "resources": [each.plural]}
            alone.append({**rule, "resourceNames": [each.only[1]], "verbs": ["get"]})
    listed = (
        {"apiGroups": [group], "resources": sorted(plurals), "verbs": ["get", "list"]}
        for group, plurals in sorted(groups.items())
    )
    return [*listed, *alone]
