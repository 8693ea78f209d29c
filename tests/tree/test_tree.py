"""A tree answers the same on disk and of a commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git.test_commits import commit_all, git
from tests.tree.trees import cluster_files
from trainyard.git.repository import Repository, find_commit
from trainyard.tree.commit import CommitTree, tree_of
from trainyard.tree.disk import DiskTree
from trainyard.tree.lockfile import LOCKFILE, MARK
from trainyard.tree.tree import Comparison
from trainyard.tree.write import write


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """The tree in a repository, with files of every kind."""
    target = tmp_path / "overlays"
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    write(target, cluster_files(same="1", edited="1", gone="1", kept="1"))
    (target / "prod" / "edited.yaml").write_text("2")
    (target / "prod" / "kept.yaml").write_text("2")
    (target / "prod" / "link").symlink_to("same.yaml")
    (target / "README.md").touch()
    commit_all(tmp_path)
    return target


def committed(target: Path) -> CommitTree:
    repository = Repository(target.parent)
    return tree_of(repository, find_commit(repository, "main"), target.name)


def test_comparison_is_the_same_on_disk_and_of_a_commit(target: Path) -> None:
    files = cluster_files(same="1", edited="1", new="1")
    seen = DiskTree(target).compare(files)

    assert seen == Comparison(
        missing=("prod/new.yaml",),
        changed=("prod/edited.yaml", f"prod/{LOCKFILE}"),
        deleted=("prod/gone.yaml",),
        kept=("prod/kept.yaml",),
        foreign=("prod/link",),
    )
    assert committed(target).compare(files, ()) == seen


def test_both_have_the_same_clusters_and_locks(target: Path) -> None:
    tree, disk = committed(target), DiskTree(target)

    assert tree.folders() == disk.folders() == {"prod"}
    assert tree.locks() == disk.locks()
    assert dict(tree.read(["prod/same.yaml", "prod/none"])) == {"prod/same.yaml": b"1 # " + MARK}


def test_tree_on_disk_differs_once_any_file_does(target: Path) -> None:
    (target / "prod" / "link").unlink()
    commit_all(target.parent)
    base = committed(target)
    assert not DiskTree(target).differs("prod", base)
    (target / "prod" / "same.yaml").write_text("2")
    assert DiskTree(target).differs("prod", base)


def test_tree_on_disk_with_a_link_differs(target: Path) -> None:
    """Trainyard never writes one."""
    assert DiskTree(target).differs("prod", committed(target))
