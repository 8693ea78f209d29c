"""What people do by hand after a change: with files, on nodes, and at another API server."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.change.impact.places import pools_of
from trainyard.change.objects import FileChange, Sides
from trainyard.model.by_hand import NODES_SYNCER, node_files, owner_of
from trainyard.model.pool import Pool


@dataclass(frozen=True, slots=True)
class HandChange:
    """Files with which somebody has something to do after the merge.

    Args:
        owner: who, in words.
        change: a deleted one removes nothing that is in use.
        files: paths below the cluster's folder, sorted.
    """

    owner: str
    change: FileChange
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodeWork:
    """What the owner of the nodes does on each of some nodes of a pool.

    Args:
        nodes: how many: all of the pool, or those that are new in it.
        adds: labels as ``key=value``, those of the topology as ``key``, and taints as
            ``key:NoSchedule``; sorted.
        removes: labels and taints, sorted.
        files: what is installed on new nodes, below the cluster's folder; sorted.
    """

    pool: str
    nodes: int
    adds: tuple[str, ...]
    removes: tuple[str, ...]
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServerChange:
    """A cluster whose API server has another address."""

    before: str
    after: str


def hand_changes(sides: Sides) -> tuple[HandChange, ...]:
    """Return what each person has to do after the merge; sorted."""
    found: dict[tuple[str, FileChange], list[str]] = defaultdict(list)
    by_itself = sides.new is not None and sides.new.cluster.node_sync != "manual"
    for path, change in sorted(sides.files.items()):
        owner = owner_of(path)
        if owner and not (by_itself and owner == NODES_SYNCER):
            found[owner, change].append(path)
    return tuple(HandChange(*key, tuple(paths)) for key, paths in sorted(found.items()))


def node_work(sides: Sides) -> tuple[NodeWork, ...]:
    """Return what new nodes need, and nodes whose labels or taint change; sorted by pool."""
    if not sides.are_comparable:
        return ()
    before = pools_of(sides.old)
    has_files = sides.new is not None and "node-files" in sides.new.cluster.features
    work: list[NodeWork] = []
    for name, pool in sorted(pools_of(sides.new).items()):
        work += _on_nodes(before.get(name), pool, node_files(pool) if has_files else ())
    return tuple(work)


def _on_nodes(old: Pool | None, new: Pool, files: tuple[str, ...]) -> Iterator[NodeWork]:
    """Yield what the nodes that stay need, and what those that are new need."""
    stay = min(old.nodes, new.nodes) if old else 0
    had, needed = _needed(old) if old else set[str](), _needed(new)
    # A label of a topology disturbs nobody on a node whose pool has no use for it.
    removed = had - needed - _places(old)
    if stay and (needed - had or removed):
        yield NodeWork(new.name, stay, tuple(sorted(needed - had)), tuple(sorted(removed)))
    if new.nodes > stay:
        yield NodeWork(new.name, new.nodes - stay, tuple(sorted(needed)), (), files)


def _needed(pool: Pool) -> set[str]:
    """Return the labels and the taint of a pool's nodes."""
    labels, taint = {f"{key}={value}" for key, value in pool.labels.items()}, pool.hardware.taint
    return labels | _places(pool) | ({f"{taint}:NoSchedule"} if taint else set())


def _places(pool: Pool | None) -> set[str]:
    """Return the labels that say where a node is; each node has a value of its own."""
    return {*pool.topology.levels} if pool and pool.topology else set()


def server_change(sides: Sides) -> ServerChange | None:
    """Return the address of the API server on both sides, if it differs."""
    before = sides.old.cluster.server if sides.old else ""
    after = sides.new.cluster.server if sides.new else ""
    return ServerChange(before, after) if before and after and before != after else None
