"""The committed tree, and what every command asks of it, wherever it is.

A path is below the tree and has forward slashes, e.g. ``lab/teams/nlp/kustomization.yaml``. The
folder at its top is a cluster's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainyard.diagnostics import Pointer, TreeError
from trainyard.model.manifest import Manifest
from trainyard.schema.manifests import check_committed
from trainyard.tree.conflict import our_side
from trainyard.tree.lockfile import LOCKFILE, Lock, is_marked
from trainyard.yaml_io.manifests import parse_manifests

_INPUTS = {None, "CustomResourceStateMetrics"}
"""Kinds of documents without a version: a fragment has no kind either."""


def comparable(content: bytes) -> list[Any]:
    """Return the objects of a committed file.

    Args:
        content: of the file; of one that Git could not merge, our side counts. Of one that does
            not say any more that it is ours, documents that are not objects are left out.

    Raises:
        ValueError: an object can't be compared.
    """
    content = our_side(content)
    bodies = [body for body in parse_manifests(content.decode()) if not _is_input(body)]
    if not is_marked(content):
        bodies = [body for body in bodies if isinstance(body, dict)]
    for body in bodies:
        if fault := check_committed(body):
            raise ValueError(fault)
    return bodies


def _is_input(document: Any) -> bool:
    """Return whether a document is read by a program: Kustomize, Argo CD, kube-state-metrics."""
    if not isinstance(document, dict):
        return False
    if "apiVersion" not in document and document.get("kind") in _INPUTS:
        return True
    return str(document.get("apiVersion")).startswith("kustomize.config.k8s.io/")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Differences between the tree and the generated one: sorted paths relative to the tree.

    Args:
        missing: generated, but not there.
        changed: there, but different from what is generated, be it an execute bit.
        deleted: of ours and no longer generated: the next run deletes it.
        kept: of ours and no longer generated, but it does not say so any more: no run deletes it.
        foreign: there, not generated and in no lockfile: no run deletes it.
    """

    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()

    @property
    def stale(self) -> int:
        """Number of files that the next run writes or deletes."""
        return len(self.missing) + len(self.changed) + len(self.deleted)

    @property
    def count(self) -> int:
        """Number of files that differ."""
        return self.stale + len(self.kept) + len(self.foreign)


class Tree(ABC):
    """A committed tree, on disk or of a commit.

    Every question may raise TreeError for what can't be read, and of a commit ToolError where Git
    is missing or broken.
    """

    __slots__ = ()

    @abstractmethod
    def folders(self) -> frozenset[str]:
        """Return what is at the top, but for regular files: nothing reads these."""

    @abstractmethod
    def paths(self, folders: Collection[str]) -> Iterator[str]:
        """Yield the path of everything below some names at the top that is not a folder."""

    @abstractmethod
    def holding(self, files: Mapping[str, bytes]) -> frozenset[str]:
        """Return those of some paths at which the tree has a file of ours with that content."""

    @abstractmethod
    def read(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the content of those paths that are files."""

    @abstractmethod
    def place(self, path: str) -> Path:
        """Return how a message names a path."""

    @abstractmethod
    def clusters(self) -> list[str]:
        """Return the folders that have a lockfile, sorted."""

    @abstractmethod
    def lock(self, cluster: str) -> Lock | None:
        """Return the lock of a cluster; None when it has none.

        Raises:
            TreeError: the lockfile can't be read, is broken, is from a newer Trainyard, or lists a
                path outside its folder.
        """

    @abstractmethod
    def differs(self, cluster: str, base: Tree) -> bool:
        """Return whether a cluster's folder is not the one that another tree has."""

    @abstractmethod
    def require_locks(self, clusters: Iterable[str]) -> None:
        """Refuse a tree that is about to be replaced and lost the lockfile of a cluster.

        Raises:
            TreeError: a folder has generated files and no lockfile.
        """

    def readable_lock(self, cluster: str) -> Lock | None:
        """Return the lock of a cluster; None when it is missing or broken."""
        try:
            return self.lock(cluster)
        except TreeError:
            return None

    def locks(self) -> dict[str, Lock]:
        """Return the lock of each cluster that has one."""
        locks = {}
        for cluster in self.clusters():
            if lock := self.lock(cluster):
                locks[cluster] = lock
        return locks

    def objects(self, cluster: str, paths: Iterable[str]) -> dict[str, list[Manifest]]:
        """Return the objects of a cluster's files that its lockfile lists.

        Args:
            cluster: has a lockfile.
            paths: of files below its folder; one that is gone or no manifest has no objects.

        Returns:
            The objects by path below the cluster's folder.

        Raises:
            TreeError: a file can't be read, or holds what can't be compared.
        """
        lock = self.lock(cluster)
        assert lock is not None
        wanted = [f"{cluster}/{path}" for path in paths if path.endswith(".yaml")]
        found = {}
        for whole, content in self.read(wanted):
            path = whole.removeprefix(f"{cluster}/")
            try:
                bodies = comparable(content)
            except ValueError as fault:
                raise TreeError(
                    f"{self.place(whole)} is broken ({fault}); take either side of it from Git, "
                    "then generate again"
                ) from fault
            at = Pointer(f"overlays/{whole}")
            found[path] = [Manifest(path, body, lock.files[path], at) for body in bodies]
        return found

    def compare(
        self, files: Mapping[str, bytes], others: Collection[str], same: Collection[str] = ()
    ) -> Comparison:
        """Compare the tree with a generated one.

        Args:
            files: content by path, the lockfiles among them.
            others: folders at the top that are not looked at.
            same: folders at the top whose generated files were read a moment ago, and are the same.
        """
        generated = folders_of(files)
        present = frozenset(self.paths((self.folders() | generated) - frozenset(others)))
        there = files.keys() & present
        unread = {path: files[path] for path in there if path.partition("/")[0] not in same}
        ours = self.written(generated)
        left = (ours & present) - files.keys()
        gone = self.marked(left)
        return Comparison(
            missing=tuple(sorted(files.keys() - present)),
            changed=tuple(sorted(unread.keys() - self.holding(unread))),
            deleted=tuple(sorted(gone)),
            kept=tuple(sorted(left - gone)),
            foreign=tuple(sorted(present - files.keys() - ours)),
        )

    def has(self, files: Mapping[str, bytes], paths: Iterable[str]) -> bool:
        """Return whether some paths are those of some files, no more and no less, and hold them."""
        return files.keys() == set(paths) and self.holding(files) == files.keys()

    def written(self, clusters: Iterable[str]) -> frozenset[str]:
        """Return the paths of our files; of a broken lockfile none."""
        paths = set[str]()
        for cluster in clusters:
            lock = self.readable_lock(cluster)
            paths.update(f"{cluster}/{path}" for path in (lock.files if lock else ()))
        return frozenset(paths)

    def marked(self, paths: Iterable[str]) -> frozenset[str]:
        """Return those of some paths that say that Trainyard generated them."""
        return frozenset(path for path, content in self.read(paths) if is_marked(content))


def folders_of(files: Iterable[str]) -> frozenset[str]:
    """Return the folders at the top that paths lie in."""
    return frozenset(path.partition("/")[0] for path in files)


def files_of(cluster: str, files: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the generated files of a cluster by path below its folder."""
    folder = f"{cluster}/"
    for path, content in files.items():
        if path.startswith(folder):
            yield path.removeprefix(folder), content


def lockfile_of(cluster: str) -> str:
    """Return the path of a cluster's lockfile."""
    return f"{cluster}/{LOCKFILE}"
