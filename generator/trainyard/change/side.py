"""One side of a change: the profiles and the tree of a commit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from trainyard.diagnostics import TreeError
from trainyard.git.commits import (
    Blob,
    Commit,
    Listing,
    find_commit,
    list_folder,
    list_paths,
    read_files,
)
from trainyard.git.repository import Repository
from trainyard.git.worktree import work_tree
from trainyard.tree.commit import CommitTree, impossible_path, tree_of
from trainyard.tree.lockfile import LOCKFILE, is_inside


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
    repository = places.repository
    commit = find_commit(repository, ref)
    tree = tree_of(repository, commit, places.tree)
    if not tree.lockfiles:
        _require_no_other_tree(places, commit)
    folder.mkdir()
    profiles = _regular(list_folder(repository, commit, places.profiles), commit)
    _copy(repository, commit, profiles, folder)
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


def _regular(profiles: Listing, commit: Commit) -> dict[str, Blob]:
    """Return the files of a commit's profiles.

    Hidden links are left out, as `discover` leaves them out: Emacs makes one for each open file.

    Raises:
        TreeError: there is another link, or a submodule.
    """
    links = (path for path in profiles.links if "/." not in f"/{path}")
    for path in (*links, *profiles.submodules):
        shown = f"profiles/{path}".rstrip("/")
        raise TreeError(f"{shown} is not a regular file in commit {commit.short}")
    return profiles.files


def _copy(repository: Repository, commit: Commit, files: Mapping[str, Blob], folder: Path) -> None:
    """Write files of a commit below a folder.

    Raises:
        TreeError: a path has a backslash, or leads out of the folder.
        ToolError: Git is missing or broken.
    """
    for path, content in read_files(repository, files):
        if not is_inside(path):
            raise impossible_path(commit, path)
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
