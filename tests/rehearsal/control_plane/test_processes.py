from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from trainyard.diagnostics import ToolError
from trainyard_rehearsal.control_plane.processes import Processes, answers, free_ports

_SHELL = Path("/bin/sh")


def _pids(logs: Path) -> list[int]:
    """Return the processes that work for a test: their HOME is its folder of logs."""
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


def _fail(logs: Path, script: str, error: BaseException) -> None:
    """Have something go wrong while a script runs."""
    with Processes(logs) as processes:
        processes.start(_SHELL, ("-c", script))
        raise error


def test_all_end_with_their_children(tmp_path: Path) -> None:
    """What was started is gone afterwards, and so is what it started."""
    with Processes(tmp_path) as processes:
        processes.start_as("one", [str(_SHELL), "-c", "sleep 60 & wait"], {})
        processes.wait_until(lambda: len(_pids(tmp_path)) == 2, "two processes", 10)
    assert _gone(tmp_path)


def test_program_runs_to_its_end(tmp_path: Path) -> None:
    """What ends well is no death among the others; what fails is told with its last words."""
    with Processes(tmp_path) as processes:
        processes.run(_SHELL, ("-c", "exit 0"), {})
        processes.check()
        with pytest.raises(ToolError, match=r"sh ended with 3(.|\n)*no image"):
            processes.run(_SHELL, ("-c", "echo no image; exit 3"), {})


def test_end_in_reverse_order(tmp_path: Path) -> None:
    """What was started last ends first: the API server outlives those who talk to it."""
    order = tmp_path / "order"
    with Processes(tmp_path / "logs") as processes:
        for name in ("first", "second"):
            script = (
                f'trap "echo {name} >> {order}; exit" TERM; echo up; while :; do sleep 0.02; done'
            )
            processes.start_as(name, [str(_SHELL), "-c", script], {})
            log = tmp_path / "logs" / f"{name}.log"
            processes.wait_until(lambda log=log: log.read_text() == "up\n", "trap", 10)  # type: ignore[misc]
    assert order.read_text().split() == ["second", "first"]


def test_stubborn_process_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who does not listen to SIGTERM is ended without being asked."""
    monkeypatch.setattr("trainyard_rehearsal.control_plane.processes._PATIENCE", 0.1)
    with Processes(tmp_path) as processes:
        processes.start_as(
            "deaf", [str(_SHELL), "-c", 'trap "" TERM; echo up; while :; do sleep 0.02; done'], {}
        )
        processes.wait_until(lambda: (tmp_path / "deaf.log").read_text() == "up\n", "trap", 10)
    assert _gone(tmp_path)


def test_death_is_told_with_last_words(tmp_path: Path) -> None:
    """Who waits while a process ends reads its exit code and the end of its log."""
    with Processes(tmp_path) as processes:
        processes.start_as("kueue", [str(_SHELL), "-c", "seq 100; exit 3"], {})
        with pytest.raises(ToolError) as told:
            processes.wait_until(lambda: False, "nothing", 10)
    first, *rest = str(told.value).splitlines()
    assert first == f"kueue ended with 3; the end of {tmp_path / 'kueue.log'}:"
    assert rest == [str(number) for number in range(86, 101)]


def test_first_of_several_deaths_is_told(tmp_path: Path) -> None:
    """A program that ends because another one did is not named, even when it is seen to end
    sooner."""
    with Processes(tmp_path) as processes:
        processes.start_as("server", [str(_SHELL), "-c", "sleep 0.7; exit 9"], {})
        processes.start_as("client", [str(_SHELL), "-c", "sleep 0.3; exit 1"], {})
        with pytest.raises(ToolError, match=r"^server ended with 9;"):
            processes.wait_until(lambda: False, "nothing", 10)


def test_death_explains_other_errors(tmp_path: Path) -> None:
    """When something else goes wrong because a process died, the process is what is told."""
    with pytest.raises(ToolError, match="sh ended with 1"):
        _fail(tmp_path, "sleep 0.1; exit 1", ValueError("no answer"))


def test_other_errors_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error while every process lives is told as it is."""
    monkeypatch.setattr("trainyard_rehearsal.control_plane.processes._AFTERMATH", 0.01)
    with pytest.raises(ValueError, match="our own"):
        _fail(tmp_path, "sleep 60", ValueError("our own"))
    assert _gone(tmp_path)


def test_interrupt_waits_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends everything at once, and stays Ctrl-C."""
    monkeypatch.setattr("trainyard_rehearsal.control_plane.processes._AFTERMATH", 60)
    with pytest.raises(KeyboardInterrupt):
        _fail(tmp_path, "sleep 60", KeyboardInterrupt())
    assert _gone(tmp_path)


def test_too_long_is_told(tmp_path: Path) -> None:
    """What never happens is told with the folder of the logs."""
    with Processes(tmp_path) as processes, pytest.raises(ToolError) as told:
        processes.wait_until(lambda: False, "the start of etcd", 0)
    assert str(told.value) == f"the start of etcd did not happen in 0 s; logs are in {tmp_path}"


def test_no_program_is_told(tmp_path: Path) -> None:
    """A program that is not there is a sentence."""
    with Processes(tmp_path) as processes, pytest.raises(ToolError) as told:
        processes.start(tmp_path / "kwok", ())
    assert str(told.value) == "kwok can't be started: No such file or directory"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_dies_with_parent(tmp_path: Path, number: signal.Signals) -> None:
    """However the rehearsal itself is ended, no process is left."""
    script = (
        "import time; from pathlib import Path; from trainyard_rehearsal.control_plane.processes "
        f"import Processes\nwith Processes(Path({str(tmp_path)!r})) as processes:\n    "
        f"processes.start(Path({str(_SHELL)!r}), ('-c', 'exec sleep 60'))\n    print('up', "
        "flush=True); time.sleep(60)"
    )
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"up\n"
        assert len(_pids(tmp_path)) == 1
        parent.send_signal(number)
    assert _gone(tmp_path)


def test_process_whose_parent_is_gone_does_not_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rehearsal may be killed before its child has asked the kernel to die with it."""
    other = os.getppid()
    with Processes(tmp_path) as processes:
        with monkeypatch.context() as patched:
            patched.setattr("trainyard_rehearsal.control_plane.processes.os.getpid", lambda: other)
            processes.start(_SHELL, ("-c", "exec sleep 60"))
        with pytest.raises(ToolError, match="sh ended with -9"):
            processes.waited(lambda: False, 10)


def test_port_answers_while_somebody_listens() -> None:
    """A free port answers nobody; one that is listened on does."""
    first, second = free_ports(2)
    assert first != second
    assert not answers(first)
    with socket.create_server(("127.0.0.1", first)):
        assert answers(first)
