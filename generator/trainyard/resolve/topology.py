"""Resolve the topologies of a cluster: those with a name of their own, and those of its fabrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.diagnostics import Note, Pointer
from trainyard.model.topology import Topology
from trainyard.resolve.findings import Resolving
from trainyard.rules.scheduling.topology_stated_twice import RULE as TOPOLOGY_STATED_TWICE

_FIELDS = ("levels", "leafNodes")


def resolve_topologies(fields: Mapping[str, Any], at: Pointer) -> Resolving[tuple[Topology, ...]]:
    """Return the topologies of a cluster, by name.

    Each fabric has one of its name, for the pools that name no other. Its levels are in the fabric
    or in ``topologies``.

    Args:
        fields: of the cluster's profile.
        at: place of the profile.
    """
    fabrics, stated = fields.get("fabrics", {}), fields.get("topologies", {})
    topologies = []
    for name in sorted({*fabrics, *stated}):
        of_fabric, own = at / "fabrics" / name, at / "topologies" / name
        twice = [field for field in _FIELDS if field in fabrics.get(name, {})]
        if name in stated and twice:
            message = f"fabric `{name}` has `{twice[0]}`, and there is a topology `{name}`"
            notes = [Note("the topology", own.key())]
            yield TOPOLOGY_STATED_TWICE.at((of_fabric / twice[0]).key(), message, notes=notes)
        place, levels = (own, stated[name]) if name in stated else (of_fabric, fabrics[name])
        topologies.append(_topology(name, levels, place))
    return tuple(topologies)


def _topology(name: str, fields: Mapping[str, Any], at: Pointer) -> Topology:
    return Topology(name, at, tuple(fields.get("levels", ())), fields.get("leafNodes", 0))
