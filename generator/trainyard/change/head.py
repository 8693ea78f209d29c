"""The change's side of a comparison: a commit or the work tree, alone or merged with the base."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from trainyard.change.merge import fork_of, merge_profiles
from trainyard.change.side import Places, Side, take_side
from trainyard.diagnostics import Diagnostic, has_errors
from trainyard.generation.emission import given_numbers, tombstones
from trainyard.generation.generate import Generation, Target
from trainyard.git.commits import Commit, find_commit, merge_base
from trainyard.tree.disk import DiskTree
from trainyard.tree.freshness import foreign_files, stale_files
from trainyard.tree.lockfile import lock_bytes, parse_lock
from trainyard.tree.memory import check_memory
from trainyard.tree.submodules import check_submodules, found_submodules
from trainyard.tree.tree import Tree, lockfile_of


@dataclass(frozen=True, slots=True)
class Head:
    """The change's side.

    Args:
        profiles: their folder.
        own: folder with the head's profiles as they were before the merge.
        tree: the tree that `own` should have made.
        remembered: the tree that the change began from.
        commit: of the head; of the work tree, the one that it was checked out from.
        named: the commit that the user named; None for the work tree.
        submodules: findings about them.
        conflicts: with the base, where both are merged.
    """

    profiles: Path
    own: Path
    tree: Tree
    remembered: Tree
    commit: Commit
    named: Commit | None
    submodules: tuple[Diagnostic, ...]
    conflicts: tuple[Diagnostic, ...] = ()


def find_head(places: Places, place: Target, ref: str, base: Side, folder: Path) -> Head:
    """Return the profiles and the tree of a commit, or of the work tree.

    Args:
        places: of the platform in its repository.
        place: of the platform on disk.
        ref: names the commit; empty for the work tree.
        base: what the change would replace.
        folder: temporary; it does not exist.
    """
    if ref:
        side = take_side(places, ref, folder)
        submodules = tuple(found_submodules("overlays", side.tree.listing.submodules))
        return Head(
            side.profiles, side.profiles, side.tree, base.tree, side.commit, side.commit, submodules
        )
    tree = DiskTree(places.repository.root / places.tree)
    commit = find_commit(places.repository, "HEAD")
    submodules = tuple(check_submodules(place.root, tree.folder))
    return Head(place.root, place.root, tree, base.tree, commit, None, submodules)


def merged(places: Places, base: Side, head: Head, folder: Path) -> Head:
    """Return the head with the profiles that merging it with the base gives.

    Args:
        places: of the platform in its repository.
        base: the branch that is merged into.
        head: as it is.
        folder: temporary; it does not exist.
    """
    folder.mkdir()
    fork = fork_of(places, base.commit, head.commit, folder / "fork")
    sides = (fork.profiles, base.profiles, head.profiles)
    conflicts = tuple(merge_profiles(places.repository, *sides, folder))
    return replace(head, profiles=folder / "profiles", remembered=fork.tree, conflicts=conflicts)


def is_behind(places: Places, base: Commit, head: Commit) -> bool:
    """Return whether the base has commits that the head lacks."""
    common = merge_base(places.repository, base, head)
    return common is None or common.id != base.id


def check_head_tree(
    head: Head, base: Side, own: Generation, wanted: Collection[str], target: Path
) -> tuple[int, tuple[Diagnostic, ...]]:
    """Return how many files of the head's tree its profiles do not make, and the findings.

    In the work tree, files that `generate` will write or delete are not reported, and the others
    are not counted.

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
        return 0, tuple(found for found in own.diagnostics if has_errors([found]))
    names = own.checked.platform.clusters
    compared = names.intersection(wanted or names)
    found = tuple(check_memory(head.remembered.locks(), head.tree, compared, base.commit))
    known = names.union(base.tree.locks(), head.tree.folders() if wanted else ())
    written = {**own.files, **dict(_own_locks(head.tree, own))}
    comparison = head.tree.compare(written, known - own.manifests.keys())
    found += tuple(foreign_files(target, comparison, own.files))
    if head.named is None:
        return comparison.stale, found
    return comparison.count + len(head.submodules), (*found, *stale_files(comparison))


def _own_locks(tree: Tree, generation: Generation) -> Iterator[tuple[str, bytes]]:
    """Yield the lockfiles that `generate` writes over those of the change.

    They may remember numbers that were given and taken back before a merge.
    """
    platform = generation.checked.platform
    assert platform is not None
    for site in platform.sites:
        if site.name in generation.manifests and tree.readable_lock(site.name):
            path = lockfile_of(site.name)
            lock = parse_lock(generation.files[path], tree.place(path))
            holdings, ids = given_numbers(platform, site, tree)
            again = replace(lock, holdings=tuple(sorted(holdings)), ids=tuple(sorted(ids)))
            yield path, generation.files[path] if again == lock else lock_bytes(again)
    yield from tombstones(generation.manifests.keys() & {*platform.retired}, tree)
