"""Runs that meet each other or are killed."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from generator.diagnostics import TreeError
from generator.tree.write import write
from tests.tree.trees import cluster_files, on_disk

_ROOT = Path(__file__).parents[2]


def test_second_run_at_the_same_time_is_refused(target: Path) -> None:
    """While one run holds the parent, another stops and names the tree; a released or dead one does not block."""
    handle = os.open(target.parent, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with pytest.raises(TreeError, match=r"another run of trainyard is writing .*overlays"):
        write(target, cluster_files(a="1"))
    os.close(handle)
    assert write(target, cluster_files(a="1")).created


def test_two_processes_leave_one_of_their_trees(target: Path) -> None:
    """Of two processes that write at once, each either completes or is refused, and one tree stands."""
    trees = [cluster_files(**{f"f{n}": mark for n in range(200)}) for mark in "12"]
    for process in [_writer(target, *marks) for marks in ("12", "21")]:
        _kill(process, 0.1)
    assert on_disk(target) in trees


def _writer(target: Path, *marks: str, exchanged: bool = True) -> subprocess.Popen[bytes]:
    """Start a process that writes trees of 200 files in turn until it is killed."""
    code = f"""if True:
        import itertools, pathlib
        from generator.diagnostics import TreeError
        from generator.tree import exchange
        from generator.tree.write import write
        from tests.tree.trees import cluster_files
        def refuse(*_): raise OSError(22, "")
        if not {exchanged}: exchange.renameat2 = refuse
        trees = [cluster_files(**{{f"f{{n}}": mark for n in range(200)}}) for mark in {marks}]
        for tree in itertools.cycle(trees):
            try:
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
    """Whenever a run is killed, the tree is the old or the new one, and the next run removes what it left."""
    random = Random(7)
    first, second = (cluster_files(**{f"f{n}": mark for n in range(200)}) for mark in "12")
    write(target, first)
    for _ in range(6):
        _kill(_writer(target, "2", "1", exchanged=exchanged), random.random() * 0.06)
        if exchanged or target.exists():
            assert on_disk(target) in (first, second)
        write(target, first)
        assert on_disk(target) == first
        assert [path.name for path in target.parent.iterdir()] == ["overlays"]


def test_tree_renamed_aside_by_a_killed_run_comes_back(target: Path) -> None:
    """A fallback that was killed between its two renames is healed by the next run, with nothing of others lost."""
    write(target, cluster_files(a="1"))
    (target / "prod" / "mine").touch()
    target.rename(target.with_name(".overlays.previous"))
    assert write(target, cluster_files(a="2")).changed == ("prod/a.yaml", "prod/trainyard.lock")
    assert (target / "prod" / "mine").exists()
    assert [path.name for path in target.parent.iterdir()] == ["overlays"]


def test_leftover_of_an_exchange_is_removed(target: Path) -> None:
    """Staging folders and a tree aside are removed as soon as the tree itself stands."""
    write(target, cluster_files(a="1"))
    for name in (".overlays.staging-x", ".overlays.previous"):
        (target.with_name(name) / "prod").mkdir(parents=True)
    write(target, cluster_files(a="1"))
    assert [path.name for path in target.parent.iterdir()] == ["overlays"]
