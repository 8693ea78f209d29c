"""Check what replacing the committed tree by the new one takes away from the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from trainyard.change.clusters import BothSides, both_sides
from trainyard.change.history.check import check_replacement
from trainyard.change.history.replacement import Replacement
from trainyard.change.history.teams import cluster_retired_without_draining
from trainyard.change.history.tombstones import check_old_names, check_vanished, vanished_cluster
from trainyard.diagnostics import Diagnostic
from trainyard.generation.generate import Generation
from trainyard.model.renames import renamed_holdings, renamed_ids, renames
from trainyard.tree.lockfile import Lock
from trainyard.tree.tree import Tree


def check_replaced(
    tree: Tree,
    generation: Generation,
    clusters: Iterable[str] = (),
    compared: Mapping[str, BothSides] = MappingProxyType({}),
) -> Iterator[Diagnostic]:
    """Yield what leaves the tree without a tombstone, and what breaks objects on the cluster.

    Args:
        tree: the committed one.
        generation: without errors; a cluster that was not rendered is not compared.
        clusters: names of the only ones wanted; all when empty.
        compared: objects of clusters that were read before, so that they are not read twice.

    Raises:
        TreeError: the tree can't be read, holds what Trainyard did not write, or lost a lockfile.
    """
    tree.require_locks(generation.manifests)
    # What holds for all clusters is found on each of them, at one place.
    yield from dict.fromkeys(_check_trees(tree, generation, frozenset(clusters), compared))


def _check_trees(
    tree: Tree,
    generation: Generation,
    wanted: frozenset[str],
    compared: Mapping[str, BothSides],
) -> Iterator[Diagnostic]:
    platform = generation.checked.platform
    assert platform is not None
    committed = tree.locks()
    yield from check_old_names(platform.teams, committed.values())
    # Where every file stays, the lockfile too, no object changes and each number is remembered.
    here = (committed.keys() & generation.manifests.keys()) - generation.same
    for cluster in sorted(here.intersection(wanted or here)):
        sides = compared.get(cluster) or both_sides(tree, cluster, generation)
        yield from _check_cluster(cluster, committed[cluster], generation, sides)
    if not wanted:
        for cluster in sorted(committed.keys() - platform.clusters):
            yield from vanished_cluster(cluster, committed[cluster])


def _check_cluster(
    cluster: str, lock: Lock, generation: Generation, sides: BothSides
) -> Iterator[Diagnostic]:
    platform = generation.checked.platform
    assert platform is not None
    site = next((site for site in platform.sites if site.name == cluster), None)
    if site is None:
        yield from cluster_retired_without_draining(cluster, sides[0])
        return
    renamed = renames(platform.teams, lock.teams)
    yield from check_vanished(site, lock, generation, renamed)
    replacement = Replacement(
        platform,
        site,
        lock.tool,
        *sides,
        renamed_holdings(lock.holdings, platform.holdings(site), renamed),
        renamed_ids(lock.ids, platform.ids.get(site.name, ()), renamed),
        renamed,
    )
    yield from check_replacement(replacement)
