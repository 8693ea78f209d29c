"""Runs that meet each other or are killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from tests.tree.trees import cluster_files, on_disk
from trainyard.diagnostics import TreeError
from trainyard.tree.disk import DiskTree
from trainyard.tree.hold import editing, held
from trainyard.tree.write import Written, write

pytestmark = pytest.mark.thorough

_ROOT = Path(__file__).parents[2]


def _run(target: Path, files: dict[str, bytes], reported: list[str] | None = None) -> Written:
    """Write a tree as `generate` does."""
    with held(target, print if reported is None else reported.append):
        return write(target, files)


def test_second_run_at_the_same_time_is_refused(target: Path) -> None:
    """While one run holds the parent, another stops and names the tree; a released or dead one does
    not block."""
    handle = os.open(target.parent, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with pytest.raises(TreeError, match=r"another run of trainyard is writing .*overlays"):
        _run(target, cluster_files(a="1"))
    os.close(handle)
    assert _run(target, cluster_files(a="1")).created


def test_two_processes_leave_one_of_their_trees(target: Path) -> None:
    """Of two processes that write at once, each completes or is refused."""
    trees = [cluster_files(**{f"f{n}": mark for n in range(200)}) for mark in "12"]
    for process in [_writer(target, *marks) for marks in ("12", "21")]:
        _kill(process, 0.1)
    assert on_disk(target) in trees


def _writer(target: Path, *marks: str, exchanged: bool = True) -> subprocess.Popen[bytes]:
    """Start a process that writes trees of 200 files in turn until it is killed."""
    code = f"""if True:
        import itertools, pathlib
        from trainyard.diagnostics import TreeError
        from trainyard.tree import hold
        from trainyard.tree.hold import held
        from trainyard.tree.write import write
        from tests.tree.trees import cluster_files
        def refuse(*_): raise OSError(22, "")
        if not {exchanged}: hold.renameat2 = refuse
        trees = [cluster_files(**{{f"f{{n}}": mark for n in range(200)}}) for mark in {marks}]
        for tree in itertools.cycle(trees):
            try:
                with held(pathlib.Path({str(target)!r}), print):
                    write(pathlib.Path({str(target)!r}), tree)
            except TreeError as error:
                assert "another run" in str(error), error
            print(flush=True)
    """
    return subprocess.Popen([sys.executable, "-c", code], cwd=_ROOT, stdout=subprocess.PIPE)


def _kill(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Kill a writer some time after its first run."""
    with process:
        assert process.stdout is not None
        assert process.stdout.readline()
        time.sleep(seconds)
        assert process.poll() is None
        process.kill()


@pytest.mark.parametrize("exchanged", [True, False])
def test_killed_run_leaves_one_tree_whole(target: Path, exchanged: bool) -> None:
    """Whenever a run is killed, the tree is the old or the new one, and the next run removes what
    it left."""
    random = Random(7)
    first, second = (cluster_files(**{f"f{n}": mark for n in range(200)}) for mark in "12")
    write(target, first)
    for _ in range(6):
        _kill(_writer(target, "2", "1", exchanged=exchanged), random.random() * 0.06)
        if exchanged or target.exists():
            assert on_disk(target) in (first, second)
        _run(target, first)
        assert on_disk(target) == first
        assert [path.name for path in target.parent.iterdir()] == ["overlays"]


def test_tree_renamed_aside_by_a_killed_run_comes_back(target: Path) -> None:
    """A fallback that was killed between its two renames is healed by the next run, with nothing of
    others lost."""
    write(target, cluster_files(a="1"))
    (target / "prod" / "mine").touch()
    target.rename(target.with_name(".overlays.previous"))
    reported: list[str] = []
    assert _run(target, cluster_files(a="2"), reported).changed == ("prod/a.yaml",)
    assert (target / "prod" / "mine").exists()
    assert [path.name for path in target.parent.iterdir()] == ["overlays"]
    assert reported == [f"recovered {target}: an earlier run was ended while it replaced the tree"]


def test_tree_that_is_aside_is_not_judged(target: Path) -> None:
    """A command that only reads reports the renamed tree."""
    write(target, cluster_files(a="1"))
    target.rename(target.with_name(".overlays.previous"))
    with pytest.raises(
        TreeError, match=r"overlays is missing: .* run `trainyard generate` to recover it"
    ):
        DiskTree(target).compare(cluster_files(a="1"))


def test_leftover_of_an_exchange_is_removed_and_named(target: Path) -> None:
    """Staging folders and a renamed tree are removed when the tree is in its place."""
    write(target, cluster_files(a="1"))
    names = (".overlays.previous", ".overlays.staging-x")
    for name in names:
        (target.with_name(name) / "prod").mkdir(parents=True)
    reported: list[str] = []
    _run(target, cluster_files(a="1"), reported)
    assert [path.name for path in target.parent.iterdir()] == ["overlays"]
    assert reported == [
        f"removed {target.with_name(name)}, which an earlier run had left behind" for name in names
    ]


def test_leftover_that_can_not_be_removed_is_named(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tree is still written, and the reason is reported."""
    write(target, cluster_files(a="1"))
    left = target.with_name(".overlays.staging-x")
    left.mkdir()

    def refuse(path: Path, ignore_errors: bool = False) -> None:
        if not ignore_errors:
            raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(shutil, "rmtree", refuse)
    reported: list[str] = []
    _run(target, cluster_files(a="2"), reported)
    assert on_disk(target) == cluster_files(a="2")
    assert (
        f"{left} was left behind and can't be removed (Permission denied); remove it by hand"
        in reported
    )
    assert len({line for line in reported if "staging-" in line}) == 2


@pytest.mark.parametrize("renames", [1, 2])
def test_interrupted_fallback_leaves_one_tree_whole(
    target: Path, monkeypatch: pytest.MonkeyPatch, renames: int
) -> None:
    """Ctrl-C right after either rename leaves a tree in its place."""
    write(target, cluster_files(a="1"))
    rename, done = Path.rename, []

    def interrupt(self: Path, other: Path) -> Path:
        moved = rename(self, other)
        done.append(other)
        if len(done) == renames:
            raise KeyboardInterrupt
        return moved

    monkeypatch.setattr("trainyard.tree.hold.renameat2", _refuse)
    monkeypatch.setattr(Path, "rename", interrupt)
    with pytest.raises(KeyboardInterrupt):
        _run(target, cluster_files(a="2"))
    assert on_disk(target) == cluster_files(a=str(renames))
    assert [path.name for path in target.parent.iterdir()] == ["overlays"]


def _refuse(*_: object) -> None:
    raise OSError(22, "Invalid argument")


def test_edits_are_made_by_one_run_at_a_time(tmp_path: Path) -> None:
    """Two teams that are added at once must not get the same addresses."""
    with (
        editing(tmp_path, print),
        pytest.raises(TreeError, match="another run"),
        editing(tmp_path, print),
    ):
        raise AssertionError
    with editing(tmp_path, print):
        pass
