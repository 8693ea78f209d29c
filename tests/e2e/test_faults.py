"""A rehearsal that is ended leaves nothing behind, and reports what failed."""

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


@contextmanager
def _rehearsal(cache: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a rehearsal of the lab, with the repository's tree."""
    # As users start it: with `-m`, Python ends with SIGINT when an import is interrupted.
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
    """Return the processes of a rehearsal by program; their command lines name its cache."""
    found = {}
    folders = (str(cache / "programs"), str(cache / "run"))
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            words = _command_line(entry)
            if any(folder in word for word in words for folder in folders):
                found[Path(words[0]).name] = int(entry.name)
    return found


def _command_line(process: Path) -> list[str]:
    """Return the words of a command line; none when the process has ended."""
    try:
        return (process / "cmdline").read_text(encoding="utf-8").split("\0")
    except OSError:
        return []


def _errors(process: subprocess.Popen[str]) -> str:
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
def test_ended_rehearsal_leaves_no_process_and_no_file(
    cache: Path, last: str, number: signal.Signals, code: int
) -> None:
    """The rehearsal is ended when this program has just started; it wrote into its run only."""
    before = {path.name for path in cache.iterdir()}
    with _rehearsal(cache) as process:
        assert _wait(lambda: last in _processes(cache), _PATIENCE)
        process.send_signal(number)
        errors = _errors(process)
    assert process.returncode == code, errors
    assert "bug" not in errors
    assert _wait(lambda: not _processes(cache), _END), _processes(cache)
    assert {path.name for path in cache.iterdir()} - before <= {"lock", "run"}


@pytest.mark.parametrize("name", ["etcd", "kube-apiserver", "kueue"])
def test_dead_process_is_reported(cache: Path, name: str) -> None:
    """A dead process ends the rehearsal with code 4 and the end of the process's log."""
    with _rehearsal(cache) as process:
        assert _wait(lambda: "kueue" in _processes(cache), _PATIENCE)
        os.kill(_processes(cache)[name], signal.SIGKILL)
        errors = _errors(process)
    assert process.returncode == 4
    where = rf"{cache / 'run' / 'lab'}/(tree|delivery)/logs/{name}\.log:"
    assert re.search(rf"error: {name} ended with -9; the end of {where}", errors)
    assert _wait(lambda: not _processes(cache), _END), _processes(cache)


def test_second_rehearsal_is_refused(cache: Path) -> None:
    """The second rehearsal names the first one's lock, and the first one runs on."""
    with _rehearsal(cache) as first:
        assert _wait(lambda: "etcd" in _processes(cache), _PATIENCE)
        with _rehearsal(cache) as second:
            errors = _errors(second)
        assert (second.returncode, first.poll()) == (4, None)
        assert (
            errors
            == f"error: another rehearsal is running (it holds {cache / 'lock'}); wait for its "
            "end\n"
        )
        first.send_signal(signal.SIGINT)
        _errors(first)


@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk is mounted by root only")
def test_full_disk_is_reported_without_a_traceback(cache: Path) -> None:
    """The exit code is 5 when our own write fails, and 4 when a program's does."""
    run = cache / "disk"
    run.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", run], check=True)
    try:
        link_programs(run)
        with _rehearsal(run) as process:
            errors = _errors(process)
        assert process.returncode in {4, 5}
        assert "bug" not in errors
        assert _wait(lambda: not _processes(run), _END)
    finally:
        subprocess.run(["umount", "--lazy", run], check=True)
