from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from trainyard.diagnostics import ToolError
from trainyard_rehearsal.control_plane.processes import Processes, answers, free_ports

pytestmark = pytest.mark.thorough

_SHELL = Path("/bin/sh")


def _pids(logs: Path) -> list[int]:
    """Return the processes of a test: their HOME is its folder of logs."""
    home = f"HOME={logs}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue
            if home in environment.split(b"\0"):
                found.append(int(entry.name))
    return found


def _gone(logs: Path) -> bool:
    deadline = time.monotonic() + 10
    while _pids(logs) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not _pids(logs)


def _is_up(log: Path) -> bool:
    return log.read_text() == "up\n"


def _fail(logs: Path, script: str, error: BaseException) -> None:
    """Raise an error while a script runs."""
    with Processes(logs) as processes:
        processes.start(_SHELL, ("-c", script))
        raise error


def test_all_processes_end_with_their_children(tmp_path: Path) -> None:
    with Processes(tmp_path) as processes:
        processes.start_as("one", [str(_SHELL), "-c", "sleep 60 & wait"], {})
        processes.wait_until(lambda: len(_pids(tmp_path)) == 2, "two processes", 10)
    assert _gone(tmp_path)


def test_processes_end_in_reverse_order(tmp_path: Path) -> None:
    """So the API server runs longer than its clients."""
    order = tmp_path / "order"
    with Processes(tmp_path / "logs") as processes:
        for name in ("first", "second"):
            script = (
                f'trap "echo {name} >> {order}; exit" TERM; echo up; while :; do sleep 0.02; done'
            )
            processes.start_as(name, [str(_SHELL), "-c", script], {})
            log = tmp_path / "logs" / f"{name}.log"
            processes.wait_until(partial(_is_up, log), "trap", 10)
    assert order.read_text().split() == ["second", "first"]


def test_last_look_decides_what_is_left(tmp_path: Path) -> None:
    """What comes back after a look that found nothing is not looked at."""
    looks = iter(([1, 2], [2], [], [3], [3]))
    with Processes(tmp_path) as processes:
        assert processes.left(lambda: next(looks), 10) == []
        assert processes.left(lambda: next(looks), 0) == [3]


def test_process_that_ignores_sigterm_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainyard_rehearsal.control_plane.processes._PATIENCE", 0.1)
    with Processes(tmp_path) as processes:
        processes.start_as(
            "deaf", [str(_SHELL), "-c", 'trap "" TERM; echo up; while :; do sleep 0.02; done'], {}
        )
        processes.wait_until(partial(_is_up, tmp_path / "deaf.log"), "trap", 10)
    assert _gone(tmp_path)


def test_dead_process_is_reported_with_the_end_of_its_log(tmp_path: Path) -> None:
    """The error also has the exit code."""
    with Processes(tmp_path) as processes:
        processes.start_as("kueue", [str(_SHELL), "-c", "seq 100; exit 3"], {})
        with pytest.raises(ToolError) as raised:
            processes.wait_until(lambda: False, "nothing", 10)
    first, *rest = str(raised.value).splitlines()
    assert first == f"kueue ended with 3; the end of {tmp_path / 'kueue.log'}:"
    assert rest == [str(number) for number in range(86, 101)]


def test_first_started_of_several_dead_processes_is_reported(tmp_path: Path) -> None:
    """A program that ends because another ended is not named, even if it ends first."""
    with Processes(tmp_path) as processes:
        processes.start_as("server", [str(_SHELL), "-c", "sleep 0.7; exit 9"], {})
        processes.start_as("client", [str(_SHELL), "-c", "sleep 0.3; exit 1"], {})
        with pytest.raises(ToolError, match=r"^server ended with 9;"):
            processes.wait_until(lambda: False, "nothing", 10)


def test_dead_process_replaces_other_errors(tmp_path: Path) -> None:
    """Other errors are likely consequences of the dead process."""
    with pytest.raises(ToolError, match="sh ended with 1"):
        _fail(tmp_path, "sleep 0.1; exit 1", ValueError("no answer"))


def test_other_errors_pass_while_all_processes_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainyard_rehearsal.control_plane.processes._AFTERMATH", 0.01)
    with pytest.raises(ValueError, match="our own"):
        _fail(tmp_path, "sleep 60", ValueError("our own"))
    assert _gone(tmp_path)


def test_interrupt_is_not_delayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainyard_rehearsal.control_plane.processes._AFTERMATH", 60)
    with pytest.raises(KeyboardInterrupt):
        _fail(tmp_path, "sleep 60", KeyboardInterrupt())
    assert _gone(tmp_path)


def test_condition_that_never_comes_true_is_reported(tmp_path: Path) -> None:
    """The error names the folder of the logs."""
    with Processes(tmp_path) as processes, pytest.raises(ToolError) as raised:
        processes.wait_until(lambda: False, "the start of etcd", 0)
    assert str(raised.value) == f"the start of etcd did not happen in 0 s; logs are in {tmp_path}"


def test_missing_program_is_reported(tmp_path: Path) -> None:
    with Processes(tmp_path) as processes, pytest.raises(ToolError) as raised:
        processes.start(tmp_path / "kwok", ())
    assert str(raised.value) == "kwok can't be started: No such file or directory"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_process_dies_with_the_rehearsal(tmp_path: Path, number: signal.Signals) -> None:
    script = (
        "import time; from pathlib import Path; from trainyard_rehearsal.control_plane.processes "
        f"import Processes\nwith Processes(Path({str(tmp_path)!r})) as processes:\n    "
        f"processes.start(Path({str(_SHELL)!r}), ('-c', 'exec sleep 60'))\n    print('up', "
        "flush=True); time.sleep(60)"
    )
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    # Tests that run in the background inherit that a hang-up is ignored.
    command = ["env", "--default-signal=HUP", sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"up\n"
        assert len(_pids(tmp_path)) == 1
        parent.send_signal(number)
    assert _gone(tmp_path)


def test_process_whose_parent_has_ended_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rehearsal may be killed before its child has called the kernel."""
    other = os.getppid()
    with Processes(tmp_path) as processes:
        with monkeypatch.context() as patched:
            patched.setattr("trainyard.programs.os.getpid", lambda: other)
            processes.start(_SHELL, ("-c", "exec sleep 60"))
        with pytest.raises(ToolError, match="sh ended with -9"):
            processes.waited(lambda: False, 10)


def test_port_answers_while_somebody_listens() -> None:
    first, second = free_ports(2)
    assert first != second
    assert not answers(first)
    with socket.create_server(("127.0.0.1", first)):
        assert answers(first)


def _program(folder: Path, words: str) -> Path:
    """Return a program of the same name in each folder, which prints words and its arguments."""
    folder.mkdir()
    program = folder / "server"
    program.write_text(f'#!/bin/sh\necho {words} "$@"\nexec sleep 60\n')
    program.chmod(0o755)
    return program


def test_program_is_exchanged_with_its_arguments(tmp_path: Path) -> None:
    """Its log goes on, and it ends at the place of the former one: after its clients."""
    log = tmp_path / "logs" / "server.log"
    with Processes(tmp_path / "logs") as processes:
        processes.start(_program(tmp_path / "old", "old"), ("--port", "1"))
        processes.start_as("client", [str(_SHELL), "-c", "exec sleep 60"], {})
        processes.wait_until(lambda: log.read_text() == "old --port 1\n", "old", 10)
        processes.exchange(_program(tmp_path / "new", "new"))
        both = "old --port 1\nnew --port 1\n"
        processes.wait_until(lambda: log.read_text() == both, "new", 10)
        assert [each.name for each in processes._started] == ["server", "client"]
    assert _gone(tmp_path / "logs")


def test_stopped_process_is_not_missed(tmp_path: Path) -> None:
    """It may be started again under its name."""
    with Processes(tmp_path) as processes:
        for _ in range(2):
            processes.start_as("one", [str(_SHELL), "-c", "exec sleep 60"], {})
            processes.stop("one")
        processes.check()
        assert _gone(tmp_path)
