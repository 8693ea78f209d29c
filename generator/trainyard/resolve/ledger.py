"""Resolve the ledger, ``allocations.yaml``: numbers on fabrics, and user ids of namespaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any, TypeAlias

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model.cluster import Cluster
from trainyard.model.fabric import Fabric, RailFabric
from trainyard.model.ids import UIDS, Ids, read_ids
from trainyard.model.link import LINKS
from trainyard.model.named import by_name
from trainyard.model.team import Allocation
from trainyard.resolve.findings import Resolving
from trainyard.resolve.references import find, network
from trainyard.rules.fabric.allocation_of_another_link import RULE as ALLOCATION_OF_ANOTHER_LINK
from trainyard.yaml_io.source import Profiles

Allocations: TypeAlias = Mapping[tuple[str, str, str], Allocation]
"""(cluster, fabric, team) -> what the team holds."""

_NO_NUMBERS = (
    "Remove the line. A fabric that was on rails before keeps its numbers under its former name."
)


def resolve_allocations(
    profiles: Profiles, clusters: Mapping[str, Cluster]
) -> Resolving[Allocations]:
    """Return what teams hold on fabrics, the fabrics of removed clusters included."""
    allocations = {}
    root = Pointer(profiles.allocations.file)
    for cluster, fabric, teams in _sections(profiles):
        at = root / cluster / fabric
        resolved = None
        # The section of a removed cluster may stay: its numbers are never given again.
        if cluster in clusters:
            stated = profiles.clusters[cluster].value.get("fabrics", {})
            known = {**dict.fromkeys(stated), **by_name(clusters[cluster].fabrics)}
            resolved = yield from find("fabric", fabric, known, at.key())
        for team, held in sorted(teams.items()):
            addresses = yield from _addresses(held, resolved, at / team)
            if addresses is not None:
                allocations[cluster, fabric, team] = Allocation(
                    at / team, _segment(held), addresses, held.get("since", "")
                )
    return allocations


def resolve_ids(profiles: Profiles) -> dict[str, tuple[Ids, ...]]:
    """Return the user ids of namespaces, by cluster."""
    root = Pointer(profiles.allocations.file)
    ids = {}
    for cluster, sections in sorted((profiles.allocations.value or {}).items()):
        at = root / cluster / UIDS
        lines = sorted(sections.get(UIDS, {}).items())
        ids[cluster] = tuple(read_ids(name, line, at=at / name) for name, line in lines)
    return ids


def _sections(profiles: Profiles) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield each cluster and fabric of the ledger with the entries of its teams."""
    for cluster, fabrics in sorted((profiles.allocations.value or {}).items()):
        for fabric, teams in sorted(fabrics.items()):
            if fabric != UIDS:
                yield cluster, fabric, teams


def _addresses(
    held: Mapping[str, Any], fabric: Fabric | None, at: Pointer
) -> Resolving[IPv4Network | None]:
    """Return the addresses of an entry; None if they are not a network, or its segment is wrong."""
    addresses = yield from network(held["addresses"], at / "addresses")
    wrong = tuple(_wrong_segments(held, fabric, at)) if fabric else ()
    yield from wrong
    return None if wrong else addresses


def _wrong_segments(held: Mapping[str, Any], fabric: Fabric, at: Pointer) -> Iterator[Diagnostic]:
    """Yield each segment of a team that the fabric's link does not have, or the absence of any."""
    if not isinstance(fabric, RailFabric):
        message = f"team {at.path[-1]} holds numbers on fabric `{fabric.name}`"
        yield ALLOCATION_OF_ANOTHER_LINK.at(
            at.key(), f"{message}, which is {fabric.provider.name} and gives none", hint=_NO_NUMBERS
        )
        return
    wanted, stated = fabric.link, [link for link in LINKS.values() if link.field in held]
    where = f"on fabric `{fabric.name}`, whose teams hold {wanted.segment}s"
    for link in stated:
        if link is not wanted:
            message = f"team {at.path[-1]} holds {link.segment} {held[link.field]} {where}"
            yield ALLOCATION_OF_ANOTHER_LINK.at((at / link.field).key(), message)
    if not stated:
        message = f"team {at.path[-1]} holds no {wanted.segment} {where}"
        yield ALLOCATION_OF_ANOTHER_LINK.at(at, message)


def _segment(held: Mapping[str, Any]) -> int:
    """Return the one segment of an entry, whose link is unknown when the fabric was removed."""
    segment = next((held[link.field] for link in LINKS.values() if link.field in held), 0)
    return int(str(segment), 0)
