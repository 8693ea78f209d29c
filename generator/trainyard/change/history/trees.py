"""Check what replacing the committed tree by the new one takes away from the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from trainyard.change.history.check import check_replacement
from trainyard.change.history.replacement import Replacement
from trainyard.change.history.tombstones import check_old_names, check_vanished, vanished_cluster
from trainyard.change.sides import BothSides, both_sides
from trainyard.diagnostics import Diagnostic, TreeError
from trainyard.generation.generate import Generation
from trainyard.model.platform import Site
from trainyard.model.renames import renamed_holdings, renamed_ids, renames
from trainyard.model.team import Team
from trainyard.tree.compare import reading, top
from trainyard.tree.lockfile import LOCKFILE, Lock, read_lock

_OURS = frozenset({"argocd", "platform"})
"""Folders of each cluster's tree."""


def check_replaced(
    target: Path,
    generation: Generation,
    clusters: Iterable[str] = (),
    compared: Mapping[str, BothSides] = MappingProxyType({}),
) -> Iterator[Diagnostic]:
    """Yield what leaves the tree without a tombstone, and what breaks objects on the cluster.

    Args:
        target: the tree.
        generation: without errors; a cluster that was not rendered is not compared.
        clusters: names of the only ones wanted; all when empty.
        compared: objects of clusters that were read before, so that they are not read twice.

    Raises:
        TreeError: the tree can't be read, holds what Trainyard did not write, or lost a lockfile.
    """
    _require_locks(target, generation)
    # What holds for all clusters is found on each of them, at one place.
    yield from dict.fromkeys(_check_trees(target, generation, frozenset(clusters), compared))


def _check_trees(
    target: Path,
    generation: Generation,
    wanted: frozenset[str],
    compared: Mapping[str, BothSides],
) -> Iterator[Diagnostic]:
    assert generation.checked.platform is not None
    platform = generation.checked.platform
    sites = {site.name: site for site in platform.sites}
    committed = dict(locks(target))
    yield from check_old_names(platform.teams, committed.values())
    here = committed.keys() & generation.manifests.keys()
    for cluster in sorted(here & wanted if wanted else here):
        lock = committed[cluster]
        sides = compared.get(cluster) or both_sides(target / cluster, lock, generation)
        yield from _check_site(sites[cluster], lock, generation, sides)
    if not wanted:
        for cluster in sorted(committed.keys() - sites.keys()):
            yield vanished_cluster(cluster, committed[cluster])


def _check_site(
    site: Site, lock: Lock, generation: Generation, sides: BothSides
) -> Iterator[Diagnostic]:
    assert generation.checked.platform is not None
    renamed = renames(generation.checked.platform.teams, lock.teams)
    yield from check_vanished(site, lock, generation, renamed)
    yield from check_replacement(_replacement(site, lock, generation, sides, renamed))


def _require_locks(target: Path, generation: Generation) -> None:
    """Refuse a tree that lost a lockfile: the numbers of former teams could be given away.

    Raises:
        TreeError: a folder has generated files and no lockfile.
    """
    for cluster in generation.manifests:
        folder = target / cluster
        with reading(target):
            present = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        if LOCKFILE not in present and not present.isdisjoint(_OURS):
            raise TreeError(
                f"{folder} has generated files and no {LOCKFILE}, so the numbers that were given "
                f"are unknown; restore {folder / LOCKFILE} from Git, or remove the folder if it "
                "was never merged"
            )


def locks(target: Path) -> Iterator[tuple[str, Lock]]:
    """Yield the lock of each folder of the tree that has one, by the name of its cluster.

    Raises:
        TreeError: the tree or a lockfile can't be read.
    """
    with reading(target):
        folders = [target / entry.name for entry in top(target) if entry.is_dir()]
    for folder in folders:
        lock = read_lock(folder) if (folder / LOCKFILE).exists() else None
        if lock is not None:
            yield folder.name, lock


def _replacement(
    site: Site, lock: Lock, generation: Generation, sides: BothSides, renamed: Mapping[str, Team]
) -> Replacement:
    """Return the objects of a cluster before and after."""
    platform = generation.checked.platform
    assert platform is not None
    return Replacement(
        platform,
        site,
        lock.tool,
        *sides,
        renamed_holdings(lock.holdings, platform.holdings(site), renamed),
        renamed_ids(lock.ids, platform.ids.get(site.name, ()), renamed),
        renamed,
    )
