from __future__ import annotations

import errno
import os
import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tree.trees import cluster_files, on_disk
from trainyard.diagnostics import TreeError
from trainyard.tree import hold
from trainyard.tree.disk import DiskTree
from trainyard.tree.hold import held
from trainyard.tree.write import Written, write

_FILES = st.dictionaries(
    st.sampled_from(["a", "b", "teams__x__a", "teams__y__b"]), st.sampled_from("12")
)


def _refuse(*_: object, **__: object) -> NoReturn:
    raise OSError(errno.EINVAL, "Invalid argument")


@pytest.fixture(params=["exchange", "fallback"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of putting a tree in place; the second as on a file system that can't exchange."""
    if request.param == "fallback":
        monkeypatch.setattr(hold, "renameat2", _refuse)


@contextmanager
def _limit(kind: int, soft: int) -> Iterator[None]:
    before = resource.getrlimit(kind)
    resource.setrlimit(kind, (soft, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(kind, before)


@given(_FILES, _FILES)
@settings(deadline=None)  # a busy disk takes its time
def test_tree_becomes_what_is_generated(
    tmp_path_factory: pytest.TempPathFactory, old: dict[str, str], new: dict[str, str]
) -> None:
    """The files are the generated ones, and the report is the difference, from any tree."""
    target = tmp_path_factory.mktemp("parent") / "overlays"
    before, after = cluster_files(**old), cluster_files(**new)
    write(target, before)
    both = before.keys() & after.keys()
    done = write(target, after)
    assert on_disk(target) == after
    assert done == Written(
        tuple(sorted(after.keys() - both)),
        tuple(sorted(path for path in both if before[path] != after[path])),
        tuple(sorted(before.keys() - both)),
    )
    assert [path.name for path in target.parent.iterdir()] == ["overlays"]


@pytest.mark.usefixtures("way")
def test_second_run_touches_nothing(target: Path) -> None:
    """Writing the same tree again leaves every inode and time alone and reports nothing."""
    files = cluster_files(a="1", teams__x__b="2")
    write(target, files)

    def state() -> list[tuple[str, int, int, int]]:
        places = [target.parent, target, *sorted(target.rglob("*"))]
        return [
            (str(p), s.st_ino, s.st_mtime_ns, s.st_ctime_ns) for p in places for s in [p.lstat()]
        ]

    before = state()
    assert write(target, files) == Written()
    assert state() == before


@pytest.mark.usefixtures("way")
def test_unchanged_file_keeps_its_inode(target: Path) -> None:
    """Only what changed is written."""
    write(target, cluster_files(a="1", b="1"))
    inode, changed = ((target / "prod" / name).stat().st_ino for name in ("a.yaml", "b.yaml"))
    assert write(target, cluster_files(a="1", b="2")).changed == ("prod/b.yaml",)
    assert (target / "prod" / "a.yaml").stat().st_ino == inode
    assert (target / "prod" / "b.yaml").stat().st_ino != changed


@pytest.mark.usefixtures("way")
def test_foreign_things_are_carried_over(target: Path) -> None:
    """What the lockfile does not list stays as it is, be it a file, a symlink, a FIFO or another
    cluster."""
    write(target, cluster_files("lab", a="1"))
    write(target, cluster_files(a="1"))
    (target / "prod" / "mine").mkdir()
    (target / "prod" / "mine" / "notes.txt").write_text("x", encoding="utf-8")
    (target / "prod" / "link").symlink_to("/nowhere")
    os.mkfifo(target / "prod" / "fifo")
    lab = on_disk(target / "lab")
    assert write(target, cluster_files(b="1")).deleted == ("prod/a.yaml",)
    assert (target / "prod" / "mine" / "notes.txt").read_text(encoding="utf-8") == "x"
    assert (target / "prod" / "link").readlink() == Path("/nowhere")
    assert (target / "prod" / "fifo").is_fifo()
    assert on_disk(target / "lab") == lab


@pytest.mark.usefixtures("way")
def test_edited_file_of_ours_is_kept(target: Path) -> None:
    """A file that is no longer generated but was edited is not deleted, and is reported."""
    write(target, cluster_files(a="1", b="1"))
    (target / "prod" / "a.yaml").write_text("edited", encoding="utf-8")
    assert DiskTree(target).compare(cluster_files(b="1")).kept == ("prod/a.yaml",)
    assert write(target, cluster_files(b="1")).kept == ("prod/a.yaml",)
    assert (target / "prod" / "a.yaml").read_text(encoding="utf-8") == "edited"
    assert DiskTree(target).compare(cluster_files(b="1")).foreign == ("prod/a.yaml",)


def test_symlink_in_place_of_our_orphan_is_kept(target: Path) -> None:
    """A symlink where an orphan of ours was is somebody else's, even if it leads to the same
    content."""
    write(target, cluster_files(a="1", b="1"))
    (target / "prod" / "a.yaml").rename(target.parent / "moved")
    (target / "prod" / "a.yaml").symlink_to(target.parent / "moved")
    assert write(target, cluster_files(b="1")).kept == ("prod/a.yaml",)
    assert (target / "prod" / "a.yaml").is_symlink()


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_modes_do_not_depend_on_the_umask(target: Path, umask: int) -> None:
    """Files are 0644 and folders 0755, whether they are generated or carried over."""
    before = os.umask(umask)
    try:
        write(target, cluster_files(a="1"))
        (target / "prod" / "mine").mkdir()
        (target / "prod" / "mine" / "x").touch()
        write(target, cluster_files(teams__x__a="2"))
    finally:
        os.umask(before)
    folders = [target, *(path for path in target.rglob("*") if path.is_dir())]
    ours = [target / path for path in cluster_files(teams__x__a="2")]
    assert {path.stat().st_mode & 0o7777 for path in folders} == {0o755}
    assert {path.stat().st_mode & 0o7777 for path in ours} == {0o644}


@pytest.mark.parametrize(
    "path",
    [
        "x",
        "",
        "/etc/x",
        "../x",
        "prod/../../x",
        "prod/./x",
        "prod//x",
        "prod/",
        "prod\\x/y",
        "prod/a\0b",
    ],
)
def test_path_that_could_leave_the_tree_is_refused(target: Path, path: str) -> None:
    with pytest.raises(TreeError, match="not a path inside a cluster's folder"):
        write(target, {**cluster_files(a="1"), path: b""})
    assert list(target.parent.iterdir()) == []


@pytest.mark.parametrize("target", [Path(), Path("/"), Path("..")])
def test_tree_without_a_name_is_refused(target: Path) -> None:
    """The current folder or the root is never exchanged."""
    with pytest.raises(TreeError, match="can't be replaced as a whole"), held(target, print):
        raise AssertionError


def _in_the_way(target: Path, kind: str) -> None:
    if kind == "symlink for a folder":
        (target.parent / "outside").mkdir()
        (target / "prod" / "teams").symlink_to(target.parent / "outside")
    elif kind == "symlink for the cluster":
        (target / "prod").rename(target.parent / "outside")
        (target / "prod").symlink_to(target.parent / "outside")
    elif kind == "file for a folder":
        (target / "prod" / "teams").touch()
    else:
        (target / "prod" / "b.yaml").mkdir()
        (target / "prod" / "b.yaml" / "notes").touch()


@pytest.mark.parametrize(
    "kind",
    ["symlink for a folder", "symlink for the cluster", "file for a folder", "folder for a file"],
)
def test_what_stands_in_the_way_stops_the_run(target: Path, kind: str) -> None:
    """A symlink or file where a generated folder belongs is named; nothing is written through it or
    in its place."""
    write(target, cluster_files(a="1"))
    _in_the_way(target, kind)
    before = on_disk(target.parent)
    with pytest.raises(TreeError, match=r"overlays/prod.* is in the way of a generated file"):
        write(target, cluster_files(b="1", teams__x__a="1"))
    assert on_disk(target.parent) == before


@pytest.mark.usefixtures("way")
def test_full_disk_leaves_the_old_tree(target: Path) -> None:
    """A write that fails half-way is an error, and neither the tree nor its parent shows any of
    it."""
    write(target, cluster_files(a="1"))
    before = on_disk(target.parent)
    with (
        _limit(resource.RLIMIT_FSIZE, 4096),
        pytest.raises(TreeError, match=r"File too large; the tree is untouched"),
    ):
        write(target, cluster_files(a="2", b="x" * 9000))
    assert on_disk(target.parent) == before


@pytest.mark.parametrize("step", ["flush", "put_in_place", "_create", "tempfile.mkdtemp"])
def test_failing_step_leaves_the_old_tree(
    target: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Whichever step fails, the old tree stays and the staging folder is removed."""
    write(target, cluster_files(a="1"))
    before = on_disk(target.parent)
    monkeypatch.setattr(f"trainyard.tree.write.{step}", _refuse)
    with pytest.raises(TreeError, match="the tree is untouched"):
        write(target, cluster_files(a="2"))
    assert on_disk(target.parent) == before


def test_failing_second_rename_is_undone(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the fallback can't put the new tree in place, the old one comes back."""
    write(target, cluster_files(a="1"))
    before = on_disk(target.parent)
    rename = Path.rename

    def fail_for_staging(self: Path, other: Path) -> Path:
        return _refuse() if ".staging-" in self.name else rename(self, other)

    monkeypatch.setattr(hold, "renameat2", _refuse)
    monkeypatch.setattr(Path, "rename", fail_for_staging)
    with pytest.raises(TreeError, match="the tree is untouched"):
        write(target, cluster_files(a="2"))
    assert on_disk(target.parent) == before


def test_read_only_parent_is_an_error(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the right to write beside the tree, it stays as it is; a run with nothing to do needs
    no right."""

    def denied(**_: object) -> NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied")

    write(target, cluster_files(a="1"))
    # Root may write anywhere, so the refusal is made where the kernel would make it.
    monkeypatch.setattr(tempfile, "mkdtemp", denied)

    with pytest.raises(TreeError, match="Permission denied; the tree is untouched"):
        write(target, cluster_files(a="2"))
    assert write(target, cluster_files(a="1")) == Written()
    assert DiskTree(target).compare(cluster_files(a="1")).count == 0


def test_missing_parent_is_an_error(tmp_path: Path) -> None:
    """The folder above the tree is the user's to make."""
    with (
        pytest.raises(TreeError, match="No such file or directory"),
        held(tmp_path / "nowhere" / "overlays", print),
    ):
        raise AssertionError


def test_file_system_without_links_gets_copies(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where files can't be linked the result is the same."""

    def no_links(*_: object, **__: object) -> NoReturn:
        raise OSError(errno.EPERM, "Operation not permitted")

    write(target, cluster_files(a="1", b="1"))
    (target / "prod" / "mine").symlink_to("/nowhere")
    monkeypatch.setattr(os, "link", no_links)
    write(target, cluster_files(a="1", b="2"))
    assert on_disk(target) == cluster_files(a="1", b="2")
    assert (target / "prod" / "mine").readlink() == Path("/nowhere")


def test_failing_link_is_an_error(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fails while linking is not papered over by a copy."""
    write(target, cluster_files(a="1", b="1"))
    monkeypatch.setattr(os, "link", _refuse)
    with pytest.raises(TreeError, match="Invalid argument; the tree is untouched"):
        write(target, cluster_files(a="1", b="2"))


def test_empty_folders_of_a_git_repository_stay(tmp_path: Path) -> None:
    """A tree can be a clone of its own, and Git finds no repository without `refs/`."""
    target = tmp_path / "overlays"
    write(target, cluster_files(a="1"))
    (target / ".git" / "refs").mkdir(parents=True)
    write(target, cluster_files(a="2"))

    assert (target / ".git" / "refs").is_dir()


def test_empty_folder_gives_way_to_a_generated_file(tmp_path: Path) -> None:
    target = tmp_path / "overlays"
    write(target, cluster_files(a="1"))
    (target / "prod" / "b.yaml").mkdir()
    write(target, cluster_files(a="1", b="1"))

    assert on_disk(target) == cluster_files(a="1", b="1")
