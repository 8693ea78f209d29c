"""Find what people do by hand: with files, on nodes, and at another API server."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from trainyard.change.impact.duties import FileChange, HandChange, NodeWork, ServerChange
from trainyard.change.impact.model import Sides
from trainyard.change.impact.places import pools_of
from trainyard.model.by_hand import NODES_SYNCER, node_files, owner_of
from trainyard.model.pool import Pool


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
