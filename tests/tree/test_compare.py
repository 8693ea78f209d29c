from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tree.trees import cluster_files
from trainyard.diagnostics import TreeError
from trainyard.tree.disk import DiskTree
from trainyard.tree.tree import Comparison
from trainyard.tree.write import write

_FILES = st.dictionaries(
    st.sampled_from(["a", "b", "teams__x__a", "teams__y__b"]), st.sampled_from("12")
)


@given(_FILES, _FILES)
@settings(deadline=None)  # a busy disk takes its time
def test_comparison_names_each_difference(
    tmp_path_factory: pytest.TempPathFactory, old: dict[str, str], new: dict[str, str]
) -> None:
    """Each path of any two trees is missing, changed or extra exactly as in the sets of files."""
    target = tmp_path_factory.mktemp("parent") / "overlays"
    before, after = cluster_files(**old), cluster_files(**new)
    write(target, before)
    seen = DiskTree(target).compare(after)
    assert seen.missing == tuple(sorted(after.keys() - before.keys()))
    assert seen.changed == tuple(
        sorted(p for p in after.keys() & before.keys() if after[p] != before[p])
    )
    assert seen.deleted == tuple(sorted(before.keys() - after.keys()))
    assert (seen.count == 0) == (before == after)


def test_tree_that_is_not_there_misses_everything(target: Path) -> None:
    """Before the first run all files are missing."""
    files = cluster_files(a="1")
    assert DiskTree(target).compare(files) == Comparison(missing=tuple(sorted(files)))


def test_hand_made_file_is_foreign(target: Path) -> None:
    """A file that no lockfile lists is reported, dotfile or not."""
    files = cluster_files(a="1")
    write(target, files)
    (target / "prod" / ".hidden").touch()
    assert DiskTree(target).compare(files) == Comparison(foreign=("prod/.hidden",))


def test_other_cluster_is_not_looked_at(target: Path) -> None:
    write(target, cluster_files(a="1"))
    files = cluster_files("lab", a="1")
    write(target, files)
    (target / "prod" / "a.yaml").write_text("edited", encoding="utf-8")
    assert DiskTree(target).compare(files).count == 0


def test_folder_of_no_cluster_is_foreign(target: Path) -> None:
    """A folder with a lockfile is another cluster's, and a file beside the clusters a page."""
    files = cluster_files(a="1")
    write(target, cluster_files("lab", a="1"))
    assert write(target, files).foreign == ()
    (target / "other" / "teams").mkdir(parents=True)
    (target / "other" / "teams" / "x.yaml").touch()
    (target / "notes").touch()

    assert DiskTree(target).compare(files) == Comparison(foreign=("other/teams/x.yaml",))
    assert write(target, files).foreign == ("other/teams/x.yaml",)


def test_irregular_files_are_foreign_and_not_followed(target: Path) -> None:
    """A symlink, dangling or to a folder, and a FIFO are reported as they are, and not opened."""
    files = cluster_files(a="1")
    write(target, files)
    (target / "prod" / "loop").symlink_to(".")
    (target / "prod" / "dangling").symlink_to("nowhere")
    os.mkfifo(target / "prod" / "fifo")
    assert DiskTree(target).compare(files).foreign == ("prod/dangling", "prod/fifo", "prod/loop")


def test_symlink_in_place_of_a_file_is_changed(target: Path) -> None:
    """A symlink to the right content is not the file that was generated."""
    files = cluster_files(a="1")
    write(target, files)
    (target / "prod" / "a.yaml").rename(target.parent / "moved")
    (target / "prod" / "a.yaml").symlink_to(target.parent / "moved")
    assert DiskTree(target).compare(files).changed == ("prod/a.yaml",)


def test_symlinked_cluster_is_foreign(target: Path) -> None:
    """A cluster's folder that is a symlink hides nothing."""
    files = cluster_files(a="1")
    write(target, files)
    (target / "prod").rename(target / "elsewhere")
    (target / "prod").symlink_to("elsewhere")
    assert DiskTree(target).compare(files) == Comparison(
        missing=tuple(sorted(files)), foreign=("prod",)
    )


def test_symlinked_tree_is_refused(target: Path) -> None:
    """The tree itself must be a folder."""
    target.symlink_to("elsewhere")
    with pytest.raises(TreeError, match="is a symlink"):
        DiskTree(target).compare({})


def test_execute_bit_is_a_change(target: Path) -> None:
    """Git records the execute bit, so a generated file must not have it."""
    files = cluster_files(a="1")
    write(target, files)
    (target / "prod" / "a.yaml").chmod(0o755)
    assert DiskTree(target).compare(files).changed == ("prod/a.yaml",)


def test_same_size_and_other_bytes_is_a_change(target: Path) -> None:
    """Content counts, not size."""
    files = cluster_files(a="1")
    write(target, files)
    (target / "prod" / "a.yaml").write_bytes(b"2")
    assert DiskTree(target).compare(files).changed == ("prod/a.yaml",)


def test_undecodable_name_is_foreign(target: Path) -> None:
    """A file name that is not UTF-8 can still be opened by the name that is returned."""
    files = cluster_files(a="1")
    write(target, files)
    (target / "prod" / os.fsdecode(b"\xff")).touch()
    assert DiskTree(target).compare(files).foreign == (os.fsdecode(b"prod/\xff"),)


def test_file_in_place_of_the_tree_is_an_error(target: Path) -> None:
    target.touch()
    with pytest.raises(TreeError, match="can't be read: Not a directory"):
        DiskTree(target).compare(cluster_files(a="1"))


@pytest.mark.thorough
def test_large_tree_is_compared_quickly(target: Path) -> None:
    """Eight thousand unchanged files take well under half a second of this process's time."""
    files = {f"prod/teams/t{n // 25}/f{n}.yaml": b"x" * 800 for n in range(8000)}
    write(target, files)
    start = time.process_time()
    assert DiskTree(target).compare(files).count == 0
    assert time.process_time() - start < 0.5
