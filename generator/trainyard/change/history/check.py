"""Check what replacing the committed tree by the new one takes away from the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from trainyard.change.clusters import both_sides
from trainyard.change.history import jobs, numbers, objects, teams
from trainyard.change.history.replacement import Replacement
from trainyard.change.history.tombstones import check_old_names, check_vanished, vanished_cluster
from trainyard.change.objects import Sides
from trainyard.diagnostics import Diagnostic
from trainyard.generation.generate import Generation
from trainyard.model.renames import renamed_holdings, renamed_ids, renames, usual_namespaces
from trainyard.tree.lockfile import Lock
from trainyard.tree.tree import Tree

_NEVER_SYNCED = (
    "If Argo CD has never synced the cluster, remove its folder in `overlays/` and generate again."
)
"""The tree in the folder counts as synced: no file shows whether a cluster has it."""

CHECKS = (
    jobs.runtime_edited_in_place,
    objects.immutable_field,
    objects.claim_grows_too_far,
    jobs.flavor_leaves_queue,
    jobs.rails_renamed,
    teams.namespace_left_behind,
    numbers.allocation_moved,
    numbers.allocation_given_away,
    numbers.uids_gone,
    numbers.uids_moved,
    numbers.uids_left_behind,
    numbers.uids_given_away,
    teams.retired_without_draining,
    teams.renamed_without_draining,
    teams.claim_left_behind,
    teams.folder_left_behind,
    teams.name_not_reserved,
    objects.object_changes_unit,
)


def check_replaced(
    tree: Tree,
    generation: Generation,
    clusters: Iterable[str] = (),
    compared: Mapping[str, Sides] = MappingProxyType({}),
) -> Iterator[Diagnostic]:
    """Yield what leaves the tree without a tombstone, and what breaks objects on the cluster.

    Args:
        tree: the committed one.
        generation: without errors; a cluster that was not rendered is not compared.
        clusters: names of the only ones wanted; all when empty.
        compared: clusters that were compared before, so that their objects are not read twice.

    Raises:
        TreeError: the tree can't be read, holds what Trainyard did not write, or lost a lockfile.
    """
    tree.require_locks(generation.manifests)
    # What holds for all clusters is found on each of them, at one place.
    for finding in dict.fromkeys(_check_trees(tree, generation, frozenset(clusters), compared)):
        yield replace(finding, hint=f"{finding.hint} {_NEVER_SYNCED}")


def _check_trees(
    tree: Tree, generation: Generation, wanted: frozenset[str], compared: Mapping[str, Sides]
) -> Iterator[Diagnostic]:
    platform = generation.checked.platform
    assert platform is not None
    committed = tree.locks()
    yield from check_old_names(platform.teams, committed.values())
    # Where every file stays, the lockfile too, no object changes and each number is remembered.
    here = (committed.keys() & generation.manifests.keys()) - generation.same
    for cluster in sorted(here.intersection(wanted or here)):
        sides = compared.get(cluster) or both_sides(tree, None, generation, cluster)
        yield from _check_cluster(sides, committed[cluster], generation)
    if not wanted:
        for cluster in sorted(committed.keys() - platform.clusters):
            yield from vanished_cluster(cluster, committed[cluster])


def _check_cluster(sides: Sides, lock: Lock, generation: Generation) -> Iterator[Diagnostic]:
    platform, site = generation.checked.platform, sides.new
    assert platform is not None
    if site is None:
        yield from teams.cluster_retired_without_draining(sides.name, sides.before)
        return
    renamed = renames(platform.teams, lock.teams)
    yield from check_vanished(site, lock, generation, renamed)
    moved = usual_namespaces(renamed) | sides.moved
    replacement = Replacement(
        platform,
        site,
        lock.tool,
        sides.before,
        sides.after,
        renamed_holdings(lock.holdings, platform.holdings(site), renamed),
        renamed_ids(lock.ids, platform.ids.get(site.name, ()), moved),
        renamed,
    )
    yield from check_replacement(replacement)


def check_replacement(replacement: Replacement) -> Iterator[Diagnostic]:
    """Yield what breaks when a cluster's committed objects are replaced."""
    # With another domain every object differs, and other findings would hide the cause.
    if moved := list(objects.domain_moved(replacement)):
        yield from moved
        return
    for check in CHECKS:
        yield from check(replacement)
