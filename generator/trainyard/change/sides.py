"""Both sides of a change: profiles and tree of its base, and of its head, alone or merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from trainyard.change.merge import copy_profiles, merge_profiles
from trainyard.diagnostics import Diagnostic, TreeError
from trainyard.generation.generate import Target
from trainyard.git.objects import Commit
from trainyard.git.repository import (
    Repository,
    find_commit,
    is_shallow,
    list_folder,
    list_paths,
    merge_base,
    read_files,
)
from trainyard.git.worktree import work_tree
from trainyard.tree.commit import CommitTree, impossible_path, tree_of
from trainyard.tree.disk import DiskTree
from trainyard.tree.lockfile import LOCKFILE, is_inside
from trainyard.tree.place import check_submodules, found_submodules
from trainyard.tree.tree import Tree


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of a platform in its Git work tree.

    Args:
        profiles, tree: their paths from its root.
    """

    repository: Repository
    profiles: str
    tree: str


@dataclass(frozen=True, slots=True)
class Side:
    """Profiles and tree, as a commit has them.

    Args:
        profiles: temporary folder, where every stage reads them as files; empty when the commit
            has none.
    """

    commit: Commit
    profiles: Path
    tree: CommitTree


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


@dataclass(frozen=True, slots=True)
class BothSides:
    """What a change replaces, and what it brings.

    Args:
        behind: the base has commits that the head lacks.
    """

    base: Side
    head: Head
    behind: bool


def read_both(place: Target, base: str, head: str, folder: Path, *, merge: bool) -> BothSides:
    """Return both sides of a change.

    Args:
        place: of the platform on disk.
        base: names the commit that the change would replace.
        head: names the commit with the change; empty for the work tree.
        folder: empty and temporary; the files of commits are written there.
        merge: look at what merging both gives, not at the head as it is.

    Raises:
        TreeError: a commit is not there, or something in it can't be read or merged.
        ToolError: Git is missing or broken.
    """
    places = find_places(place.root, place.target)
    replaced = take_side(places, base, folder / "base")
    change = _head(places, place, head, replaced, folder / "head")
    common = merge_base(places.repository, replaced.commit, change.commit)
    behind = common is None or common.id != replaced.commit.id
    if merge:
        change = _merged(places, replaced, change, common, folder / "merged")
    return BothSides(replaced, change, behind)


def with_edits(both: BothSides, edited: Mapping[str, bytes], folder: Path) -> BothSides:
    """Return both sides with other content of some profiles of the head.

    Args:
        both: the sides.
        edited: content by path below the profiles; nothing for the head as it is.
        folder: temporary; it does not exist.

    Raises:
        TreeError: a profile is a FIFO or a socket, or can't be read.
    """
    if not edited:
        return both
    copy_profiles(both.head.profiles, folder)
    for path, content in edited.items():
        (folder / path).write_bytes(content)
    return replace(both, head=replace(both.head, profiles=folder, own=folder))


def find_places(profiles: Path, tree: Path) -> Places:
    """Return where the profiles and the tree are in their Git repository.

    Raises:
        TreeError: they are in none, or not in the same.
    """
    of_profiles, of_tree = work_tree(profiles), work_tree(tree)
    if of_profiles is None or of_tree is None:
        raise TreeError(f"{profiles} and {tree} are in no Git repository, so there is no base")
    (root, inside), (other, below) = of_profiles, of_tree
    if root != other:
        raise TreeError(f"{profiles} and {tree} are in two Git repositories: {root} and {other}")
    return Places(Repository(root), inside, below)


def take_side(places: Places, ref: str, folder: Path) -> Side:
    """Return the profiles and the tree of a commit.

    Args:
        places: of the platform.
        ref: names the commit.
        folder: where the profiles are copied to; it does not exist.

    Raises:
        TreeError: there is no such commit, or one of its profiles is not a regular file.
        ToolError: Git is missing or broken.
    """
    commit = find_commit(places.repository, ref)
    tree = tree_of(places.repository, commit, places.tree)
    if not tree.lockfiles:
        _require_no_other_tree(places, commit)
    _copy_profiles(places, commit, folder)
    return Side(commit, folder, tree)


def _require_no_other_tree(places: Places, commit: Commit) -> None:
    """Refuse to compare with a tree that is not there, if another is beside the profiles.

    Raises:
        TreeError: ``--output`` is misspelt: a comparison would show every object as new.
    """
    above = PurePosixPath(places.profiles).parent
    for path in list_paths(places.repository, commit, str(above).removeprefix(".")):
        file = PurePosixPath(path)
        if file.name == LOCKFILE and file.parents[2:3] == (above,):
            raise TreeError(
                f"commit {commit.short} has no tree in {places.tree}, but one in "
                f"{file.parents[1]}: give that as `--output`"
            )


def _copy_profiles(places: Places, commit: Commit, folder: Path) -> None:
    """Write the profiles of a commit below a folder.

    Hidden links are left out, as `discover` leaves them out: Emacs makes one for each open file.

    Raises:
        TreeError: there is another link, or a submodule; a path has a backslash, or leads out.
        ToolError: Git is missing or broken.
    """
    listing = list_folder(places.repository, commit, places.profiles)
    links = [path for path in listing.links if "/." not in f"/{path}"]
    for path in (*links, *listing.submodules):
        shown = f"profiles/{path}".rstrip("/")
        raise TreeError(f"{shown} is not a regular file in commit {commit.short}")
    folder.mkdir()
    for path, content in read_files(places.repository, listing.files):
        if not is_inside(path):
            raise impossible_path(commit, path)
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def _head(places: Places, place: Target, ref: str, base: Side, folder: Path) -> Head:
    """Return the profiles and the tree of a commit, or of the work tree if none is named."""
    if ref:
        side = take_side(places, ref, folder)
        found = tuple(found_submodules("overlays", side.tree.listing.submodules))
        own, commit = side.profiles, side.commit
        return Head(own, own, side.tree, base.tree, commit, commit, found)
    tree = DiskTree(places.repository.root / places.tree)
    commit = find_commit(places.repository, "HEAD")
    found = tuple(check_submodules(place.root, tree.folder))
    return Head(place.root, place.root, tree, base.tree, commit, None, found)


def _merged(places: Places, base: Side, head: Head, common: Commit | None, folder: Path) -> Head:
    """Return the head with the profiles that merging it with the base gives."""
    folder.mkdir()
    if common is None:
        raise _no_common_commit(places.repository, base.commit, head.commit)
    fork = take_side(places, common.id, folder / "fork")
    sides = (fork.profiles, base.profiles, head.profiles)
    conflicts = tuple(merge_profiles(places.repository, *sides, folder))
    return replace(head, profiles=folder / "profiles", remembered=fork.tree, conflicts=conflicts)


def _no_common_commit(repository: Repository, base: Commit, head: Commit) -> TreeError:
    """Return the error about two branches that Git can't merge."""
    why = "their histories are unrelated, so Git can't merge them"
    if is_shallow(repository):
        why = "the history is shallow: `git fetch --unshallow`"
    return TreeError(f"commits {base.short} and {head.short} have no common commit; {why}")
