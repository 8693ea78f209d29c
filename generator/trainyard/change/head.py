"""The change's side of a comparison: a commit or the work tree, alone or merged with the base."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from trainyard.change.head_tree import HeadTree, committed_tree, compare_head
from trainyard.change.history.trees import locks
from trainyard.change.merge import merge_profiles
from trainyard.diagnostics import Diagnostic, has_errors
from trainyard.generation.generate import Generation, Target
from trainyard.git.commits import Commit, find_commit, merge_base
from trainyard.tree.freshness import foreign_files, stale_files
from trainyard.tree.memory import check_memory
from trainyard.tree.snapshot import Places, Snapshot, take_snapshot
from trainyard.tree.submodules import check_submodules, found_submodules


@dataclass(frozen=True, slots=True)
class Head:
    """The change's side.

    Args:
        profiles: their folder.
        own: folder with the head's profiles as they were before the merge.
        tree: the tree that `own` should have made.
        remembered: folder with the lockfiles that the change began from.
        commit: of the head; of the work tree, the one that it was checked out from.
        named: the commit that the user named; None for the work tree.
        submodules: findings about them.
        conflicts: with the base, where both are merged.
    """

    profiles: Path
    own: Path
    tree: HeadTree
    remembered: Path
    commit: Commit
    named: Commit | None
    submodules: tuple[Diagnostic, ...]
    conflicts: tuple[Diagnostic, ...] = ()


def find_head(places: Places, place: Target, ref: str, base: Snapshot, folder: Path) -> Head:
    """Return the profiles and the tree of a commit, or of the work tree.

    Args:
        places: of the platform in its repository.
        place: of the platform on disk.
        ref: names the commit; empty for the work tree.
        base: what the change would replace.
        folder: temporary and empty.
    """
    if ref:
        snapshot = take_snapshot(places, ref, folder)
        profiles, commit, named = snapshot.profiles, snapshot.commit, snapshot.commit
        tree = committed_tree(snapshot)
        submodules: Iterable[Diagnostic] = found_submodules("overlays", snapshot.listing.submodules)
    else:
        profiles, named = place.root, None
        commit = find_commit(places.repository, "HEAD")
        target = places.repository.root / places.tree
        tree = HeadTree(target)
        submodules = check_submodules(place.root, target)
    return Head(profiles, profiles, tree, base.tree, commit, named, tuple(submodules))


def merged(places: Places, base: Snapshot, head: Head, folder: Path) -> Head:
    """Return the head with the profiles that merging it with the base gives."""
    conflicts = tuple(merge_profiles(places, base, head.profiles, head.commit, folder))
    fork = folder / "fork" / "overlays"
    return replace(head, profiles=folder / "profiles", remembered=fork, conflicts=conflicts)


def is_behind(places: Places, base: Commit, head: Commit) -> bool:
    """Return whether the base has commits that the head lacks."""
    common = merge_base(places.repository, base, head)
    return common is None or common.id != base.id


def check_head_tree(
    head: Head, base: Snapshot, own: Generation, wanted: Collection[str], target: Path
) -> tuple[int, tuple[Diagnostic, ...]]:
    """Return how many files of the head's tree its profiles do not make, and the findings.

    In the work tree, files that `generate` will write or delete are no finding, and the others are
    not counted.

    Args:
        head: the change's side.
        base: what the change would replace.
        own: generation of the head's own profiles.
        wanted: names of the only clusters wanted; all when empty.
        target: the tree, as the command names it.

    Raises:
        TreeError: a lockfile of the base, or a file of the tree, can't be read.
    """
    if own.checked.platform is None or has_errors(own.diagnostics):
        return 0, tuple(each for each in own.diagnostics if has_errors([each]))
    names = {site.name for site in own.checked.platform.sites}
    remembered = dict(locks(head.remembered))
    found = tuple(check_memory(remembered, head.tree.folder, _of(names, wanted), base.commit))
    known = names.union(dict(locks(base.tree)), head.tree.names if wanted else ())
    others = known - own.manifests.keys()
    comparison = compare_head(head.tree, own, others)
    found += tuple(foreign_files(target, comparison, own.files))
    if head.named is None:
        return comparison.stale, found
    return comparison.count + len(head.submodules), (*found, *stale_files(comparison))


def _of(names: Collection[str], wanted: Collection[str]) -> frozenset[str]:
    return frozenset(names).intersection(wanted or names)
