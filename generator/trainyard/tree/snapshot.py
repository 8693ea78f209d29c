"""Copy profiles and parts of the tree from a commit, so that every stage reads them as files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from trainyard.diagnostics import TreeError
from trainyard.git.commits import (
    Blob,
    Commit,
    Listing,
    find_commit,
    list_folder,
    read_files,
)
from trainyard.git.repository import Repository
from trainyard.git.worktree import work_tree
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
class Snapshot:
    """Profiles and a part of the tree, as a commit has them.

    Args:
        folder: temporary; has ``profiles`` and ``overlays``.
        listing: of the committed tree, by path below the tree.
    """

    commit: Commit
    repository: Repository
    folder: Path
    listing: Listing

    @property
    def generated(self) -> Mapping[str, Blob]:
        """Every regular file of the committed tree, by path below the tree."""
        return self.listing.files

    @property
    def profiles(self) -> Path:
        """Folder of the profiles; empty when the commit has none."""
        return self.folder / "profiles"

    @property
    def tree(self) -> Path:
        """Folder of the tree: its lockfiles, and what ``copy`` added."""
        return self.folder / "overlays"

    def copy(self, paths: Iterable[str]) -> None:
        """Add files of the committed tree, by path below the tree; those that it lacks are ignored.

        Raises:
            TreeError: a path leads out of the tree.
            ToolError: Git is missing or broken.
        """
        wanted = {path: self.generated[path] for path in paths if path in self.generated}
        _write(self, self.tree, wanted)


def find_places(profiles: Path, tree: Path) -> Places:
    """Return where the profiles and the tree are in their Git repository.

    Raises:
        TreeError: they are in none, or not in the same.
    """
    found = [work_tree(profiles), work_tree(tree)]
    if None in found:
        raise TreeError(f"{profiles} and {tree} are in no Git repository, so there is no base")
    (root, inside), (other, below) = (each for each in found if each)
    if root != other:
        raise TreeError(f"{profiles} and {tree} are in two Git repositories: {root} and {other}")
    return Places(Repository(root), inside, below)


def take_snapshot(places: Places, ref: str, folder: Path) -> Snapshot:
    """Copy the profiles and lockfiles of a commit.

    Args:
        places: of the platform.
        ref: names the commit.
        folder: temporary and empty.

    Raises:
        TreeError: there is no such commit, or one of its profiles is no regular file.
        ToolError: Git is missing or broken.
    """
    repository = places.repository
    commit = find_commit(repository, ref)
    snapshot = Snapshot(commit, repository, folder, list_folder(repository, commit, places.tree))
    snapshot.profiles.mkdir()
    snapshot.tree.mkdir()
    profiles = _regular(list_folder(repository, commit, places.profiles), commit)
    _write(snapshot, snapshot.profiles, profiles)
    snapshot.copy(path for path in snapshot.generated if path.rpartition("/")[2] == LOCKFILE)
    return snapshot


def _regular(profiles: Listing, commit: Commit) -> dict[str, Blob]:
    """Return the files of a commit's profiles.

    Hidden links are left out, as `discover` leaves them out: Emacs makes one for each open file.

    Raises:
        TreeError: there is another link, or a submodule.
    """
    links = (path for path in profiles.links if "/." not in f"/{path}")
    for path in (*links, *profiles.submodules):
        shown = f"profiles/{path}".rstrip("/")
        raise TreeError(f"{shown} is no regular file in commit {commit.short}")
    return profiles.files


def _write(snapshot: Snapshot, folder: Path, files: Mapping[str, Blob]) -> None:
    """Write files of the commit below a folder.

    Raises:
        TreeError: a path has a backslash, or leads out of the folder.
        ToolError: Git is missing or broken.
    """
    for path, content in read_files(snapshot.repository, files):
        if not is_inside(path):
            raise TreeError(
                f"commit {snapshot.commit.short} has a file with the impossible path {path!r}"
            )
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
