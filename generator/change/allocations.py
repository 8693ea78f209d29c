"""What a team holds of a fabric stays with it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Network, collapse_addresses
from typing import Any

from generator.change.replacement import Replacement
from generator.diagnostics import Diagnostic, Note, Pointer, Rule, Severity, TreeError
from generator.model import names
from generator.model.fabric import Fabric
from generator.model.manifest import Manifest
from generator.model.team import Allocation

ALLOCATION_MOVED = Rule(
    id="change/allocation-moved",
    severity=Severity.ERROR,
    summary="A team keeps the partition or VLAN and the addresses that the committed tree gave it.",
    why=(
        "Running pods keep their old segment and addresses: the ranks of one job stand in two networks and wait for"
        " each other until NCCL or MPI gives up, and whoever gets the old numbers can reach what the first holder left."
    ),
    fix=(
        "Restore the entry in profiles/allocations.yaml. A team that must move is drained first: merge"
        " `state: draining` alone, then the new numbers; never give the old ones to another team."
    ),
)
RULES = (ALLOCATION_MOVED,)

_NETWORKS = ("IPPool", "NetworkAttachmentDefinition", "SriovNetwork")


@dataclass(frozen=True, slots=True)
class _Held:
    """What the committed tree gave a team on a fabric: segments as people write them, and the rails' ranges."""

    segments: set[str] = field(default_factory=set)
    ranges: set[IPv4Network] = field(default_factory=set)

    @property
    def addresses(self) -> str:
        return ", ".join(map(str, collapse_addresses(self.ranges)))


def allocation_moved(replacement: Replacement) -> Iterator[Diagnostic]:
    """Compare what the committed networks say with the ledger."""
    if replacement.keeps(*_NETWORKS):  # they are made from the ledger
        return
    fabrics = {fabric.name: fabric for fabric in replacement.site.cluster.fabrics}
    for (team, name), held in sorted(_holdings(replacement).items()):
        fabric, cluster = fabrics[name], replacement.site.name
        entry = replacement.platform.allocations.get((cluster, name, team))
        whose = f"team {team} held {_told(fabric, held)} on fabric `{name}` of cluster `{cluster}`"
        if entry is None:
            moves = [(replacement.platform.allocations_at / cluster / name, "its entry is gone")]
        else:
            moves = [] if replacement.is_drained(team) else list(_moves(fabric, held, entry))
        for at, now in moves:
            yield ALLOCATION_MOVED.at(at, f"{whose}, and {now}", notes=_taken(replacement, fabric, team, held))


def _told(fabric: Fabric, held: _Held) -> str:
    return f"{fabric.link.segment} {', '.join(sorted(held.segments))} with {held.addresses}"


def _moves(fabric: Fabric, held: _Held, entry: Allocation) -> Iterator[tuple[Pointer, str]]:
    """Yield where an entry is not what was held, and what it says now."""
    segment = fabric.link.told(entry.segment)
    if held.segments - {segment}:
        yield entry.at / fabric.link.field, f"now {fabric.link.segment} {segment}"
    if not all(each.subnet_of(entry.addresses) for each in held.ranges):
        yield entry.at / "addresses", f"now {entry.addresses}"


def _taken(replacement: Replacement, fabric: Fabric, team: str, held: _Held) -> Iterator[Note]:
    for (cluster, name, other), entry in replacement.platform.allocations.items():
        if (cluster, name) == (replacement.site.name, fabric.name) and other != team:
            same = fabric.link.told(entry.segment) in held.segments
            if same or any(each.overlaps(entry.addresses) for each in held.ranges):
                yield Note(f"team {other} has it now", entry.at)


def _holdings(replacement: Replacement) -> dict[tuple[str, str], _Held]:
    """Return what each team that has a profile held, by team and fabric."""
    owners = {
        _stem(names.address_pool(team.name, fabric.name, 0)): (team.name, fabric.name)
        for team in replacement.platform.teams
        for fabric in replacement.site.cluster.fabrics
    }
    found: dict[tuple[str, str], _Held] = defaultdict(_Held)
    for manifest in replacement.old(*_NETWORKS):
        pool, segment, addresses = _read(manifest)
        if owner := owners.get(_stem(pool)):
            found[owner].segments.update([segment] if segment else [])
            found[owner].ranges.update(addresses)
    return found


def _stem(pool: str) -> str:
    """Return the name of a pool of addresses without its rail."""
    return pool.rpartition("-")[0]


def _read(manifest: Manifest) -> tuple[str, str, list[IPv4Network]]:
    """Return the pool of addresses of a network, its segment and its range; empty for what another object says.

    Raises:
        TreeError: the committed object is no network of Trainyard's.
    """
    try:
        return _network(manifest)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        # The schema of committed objects ends where a configuration is JSON inside a string.
        told = f"{manifest.at.file} is broken (no network of Trainyard's)"
        raise TreeError(f"{told}; take either side of it from Git, then generate again") from error


def _network(manifest: Manifest) -> tuple[str, str, list[IPv4Network]]:
    spec: dict[str, Any] = manifest.body["spec"]
    if manifest.kind.name == "IPPool":
        return manifest.name, "", [IPv4Network(spec["subnet"])]
    config = json.loads(spec["config"]) if "config" in spec else {"ipam": json.loads(spec["ipam"])}
    ipam = config["ipam"]
    segment = str(config.get("pkey") or spec["vlan"])
    ranges = [IPv4Network(ipam["range"])] if "range" in ipam else []
    return str(ipam.get("poolName") or ipam["network_name"]), segment, ranges
