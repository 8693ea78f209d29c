"""What a rehearsal leaves behind when it is ended, and what it says when something of it breaks."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.e2e.conftest import link_programs

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

_PATIENCE = 600.0
_END = 300.0


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache of its own, with the programs that are built already."""
    link_programs(tmp_path)
    return tmp_path


@contextmanager
def _rehearsal(cache: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a rehearsal of the lab, with the repository's tree."""
    # As its users start it: with `-m`, Python ends by SIGINT what is interrupted within an import.
    command = [str(Path(sys.executable).with_name("trainyard")), "rehearse", "--cluster", "lab"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY / "generator"),
        "TRAINYARD_CACHE": str(cache),
        "HOME": str(cache),
    }
    with subprocess.Popen(
        command, cwd=REPOSITORY, env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _wait(ready: Callable[[], object], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not ready() and time.monotonic() < deadline:
        time.sleep(0.1)
    return bool(ready())


def _processes(cache: Path) -> dict[str, int]:
    """Return the processes of a rehearsal, by program: each has a path below its cache in its
    command line."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            words = (
                (entry / "cmdline").read_text(encoding="utf-8").split("\0")
                if entry.name.isdigit()
                else []
            )
        except OSError:
            continue
        if any(str(cache / "programs") in word or str(cache / "run") in word for word in words):
            found[Path(words[0]).name] = int(entry.name)
    return found


def _said(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    process.wait(_END)
    return process.stderr.read()


@pytest.mark.parametrize(
    ("last", "number", "code"),
    [
        ("etcd", signal.SIGINT, 130),
        ("etcd", signal.SIGKILL, -9),
        ("kube-apiserver", signal.SIGTERM, 130),
        ("kwok", signal.SIGINT, 130),
        ("kueue", signal.SIGTERM, 130),
        ("kueue", signal.SIGKILL, -9),
    ],
)
def test_nothing_is_left(cache: Path, last: str, number: signal.Signals, code: int) -> None:
    """Ended when this program has just begun, nothing runs on, and nothing was written outside of
    the run's folder."""
    before = {path.name for path in cache.iterdir()}
    with _rehearsal(cache) as process:
        assert _wait(lambda: last in _processes(cache), _PATIENCE)
        process.send_signal(number)
        said = _said(process)
    assert process.returncode == code, said
    assert "bug" not in said
    assert _wait(lambda: not _processes(cache), _END), _processes(cache)
    assert {path.name for path in cache.iterdir()} - before <= {"lock", "run"}


@pytest.mark.parametrize("name", ["etcd", "kube-apiserver", "kueue"])
def test_dead_process_is_told(cache: Path, name: str) -> None:
    """One that dies ends the rehearsal with its last words and code 4, and the others with it."""
    with _rehearsal(cache) as process:
        assert _wait(lambda: "kueue" in _processes(cache), _PATIENCE)
        os.kill(_processes(cache)[name], signal.SIGKILL)
        said = _said(process)
    assert process.returncode == 4
    where = rf"{cache / 'run' / 'lab'}/(tree|delivery)/logs/{name}\.log:"
    assert re.search(rf"error: {name} ended with -9; the end of {where}", said)
    assert _wait(lambda: not _processes(cache), _END), _processes(cache)


def test_second_rehearsal_waits_for_nobody(cache: Path) -> None:
    """A second one at once is told of the first, and does not touch it."""
    with _rehearsal(cache) as first:
        assert _wait(lambda: "etcd" in _processes(cache), _PATIENCE)
        with _rehearsal(cache) as second:
            said = _said(second)
        assert (second.returncode, first.poll()) == (4, None)
        assert (
            said
            == f"error: another rehearsal is running (it holds {cache / 'lock'}); wait for its "
            "end\n"
        )
        first.send_signal(signal.SIGINT)
        _said(first)


@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk is mounted by root only")
def test_full_disk_is_a_sentence(cache: Path) -> None:
    """A disk without room ends the rehearsal with a sentence: our own write with code 5, a
    program's with 4."""
    run = cache / "disk"
    run.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", run], check=True)
    try:
        link_programs(run)
        with _rehearsal(run) as process:
            said = _said(process)
        assert process.returncode in {4, 5}
        assert "bug" not in said
        assert _wait(lambda: not _processes(run), _END)
    finally:
        subprocess.run(["umount", "--lazy", run], check=True)
