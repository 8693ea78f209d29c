"""Processes of a control plane: each has its own group and log, and is ended on any exit."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from trainyard.diagnostics import ToolError
from trainyard.programs import dying_with_parent, trusted

LOOPBACK = "127.0.0.1"
LOGS = "logs"
"""Folder of the logs, in the folder of a run."""
_Found = TypeVar("_Found")
_TAIL = 15
_MEMORY = min(2 << 30, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 8)
"""Bytes from which a Go process collects garbage more often, since two API servers run at once."""
_ENVIRONMENT = {"GOGC": "1000", "GOMEMLIMIT": str(_MEMORY), "LC_ALL": "C.UTF-8", "PATH": os.defpath}
"""Environment of every process; all but Redis are Go programs.

Both clusters of this repository took 20 minutes of CPU time with GOGC=250 and no memory limit, and
16 minutes with 1000 and 2 GiB.
"""
_PAUSE = 0.1
_PATIENCE = 10.0
"""Seconds that a process may take to end before it is killed; the API server takes up to 8."""
START = 180.0
"""Seconds for a start that takes five on an idle machine.

A busy machine may be slow, and a process that ends is noticed at once.
"""
_PORTS = iter(random.sample(range(20000, 32768), 12768))
"""Ports outside ``ip_local_port_range``, which Linux uses for clients, in random order."""
_AFTERMATH = 1.0
"""Seconds between a broken connection and the noticed end of its process."""


HALT = threading.Event()
"""Set to end all rehearsals of this program."""


class Halted(BaseException):
    """Another rehearsal failed, or the user ends all.

    It is not a subclass of Exception, so that no handler of errors catches it.
    """


@dataclass(frozen=True, slots=True)
class _Process:
    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    popen: subprocess.Popen[bytes]
    log: Path

    def tail(self) -> list[str]:
        """Return the last lines of its log."""
        return self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-_TAIL:]


class Processes:
    """The processes of one control plane, ended in the reverse of their order.

    Args:
        logs: folder of their logs.
    """

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self._started: list[_Process] = []

    def __enter__(self) -> Self:
        """Create the folder of the logs."""
        self.logs.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """End every process.

        Raises:
            ToolError: a process had ended before, which explains the other error.
        """
        with ExitStack() as stack:
            for process in self._started:
                stack.callback(_end, process)
            if isinstance(error, Exception):
                self.waited(_never, _AFTERMATH)

    def start(
        self, program: Path, arguments: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        """Start a program with a log of the same name.

        Raises:
            ToolError: it can't be started.
        """
        self.start_as(program.name, [str(program), *arguments], environment or {})

    def start_as(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start a command, with the name of its log, which grows when a name is started again.

        Raises:
            ToolError: it can't be started.
        """
        log = self.logs / f"{name}.log"
        with log.open("ab") as output:
            try:
                popen = subprocess.Popen(
                    command,
                    env=trusted(
                        {
                            "HOME": str(self.logs),
                            "TMPDIR": str(self.logs),
                            **_ENVIRONMENT,
                            **environment,
                        }
                    ),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    preexec_fn=dying_with_parent(),  # noqa: PLW1509 - system calls only
                )
            except OSError as error:
                raise ToolError(f"{name} can't be started: {error.strerror}") from error
        self._started.append(_Process(name, command, environment, popen, log))

    def stop(self, name: str) -> None:
        """End the process of a name, which may be started again."""
        process = self._named(name)
        self._started.remove(process)
        _end(process)

    def exchange(self, program: Path) -> None:
        """Run a program instead of the running one of its name, with the same arguments.

        Raises:
            ToolError: it can't be started.
        """
        process = self._named(program.name)
        place = self._started.index(process)
        self.stop(program.name)
        self.start_as(program.name, [str(program), *process.command[1:]], process.environment)
        # It ends in the order in which the former one was started: its clients before it.
        self._started.insert(place, self._started.pop())

    def _named(self, name: str) -> _Process:
        return next(process for process in self._started if process.name == name)

    def wait_until(self, ready: Callable[[], bool], what: str, seconds: float) -> None:
        """Wait for a condition while every process runs.

        Raises:
            ToolError: a process ended, or the condition did not come true in time.
        """
        if not self.waited(ready, seconds):
            raise ToolError(f"{what} did not happen in {seconds:.0f} s; logs are in {self.logs}")

    def waited(self, ready: Callable[[], bool], seconds: float, pause: float = _PAUSE) -> bool:
        """Wait for a condition while every process runs; return whether it came true in time.

        Args:
            ready: the condition.
            seconds: maximum time to wait.
            pause: seconds between two checks; longer for an expensive condition.

        Raises:
            ToolError: a process ended.
        """
        deadline = time.monotonic() + seconds
        while True:
            began = time.monotonic()
            found = ready()
            # A foreign program may have answered, if ours found its port taken and ended.
            self.check()
            if found:
                return True
            looked = time.monotonic()
            if looked > deadline:
                return False
            # Checks must not take the CPU from the processes that are waited for.
            time.sleep(max(pause, 2 * (looked - began)))

    def left(self, look: Callable[[], Iterable[_Found]], seconds: float) -> list[_Found]:
        """Wait until a look finds nothing more; return what the last look found.

        A second look would be at another moment: of a busy cluster it finds what the first did not.

        Raises:
            ToolError: a process ended.
        """
        found: list[_Found] = []

        def is_empty() -> bool:
            found[:] = look()
            return not found

        self.waited(is_empty, seconds)
        return found

    def check(self) -> None:
        """Check that every process runs.

        Raises:
            Halted: all rehearsals are to end.
            ToolError: a process has ended; the message has the end of its log. Of several it is
                the one that was started first, since the others need it.
        """
        if HALT.is_set():
            raise Halted
        if all(process.popen.poll() is None for process in self._started):
            return
        # The connections of a killed process break before its end can be seen, and a client may
        # end earlier.
        time.sleep(_AFTERMATH)
        for process in self._started:
            code = process.popen.poll()
            if code is not None:
                first = f"{process.name} ended with {code}; the end of {process.log}:"
                raise ToolError("\n".join([first, *process.tail()]))


def free_ports(count: int, address: str = LOOPBACK) -> list[int]:
    """Return ports of a local address on which no process listens, never the same twice."""
    return list(islice((port for port in _PORTS if _is_free(port, address)), count))


def _is_free(port: int, address: str) -> bool:
    with socket.socket() as link:
        try:
            link.bind((address, port))
        except OSError:
            return False
    return True


def answers(port: int, address: str = LOOPBACK) -> bool:
    """Return whether a process listens on a port."""
    with socket.socket() as link:
        link.settimeout(1)
        return link.connect_ex((address, port)) == 0


def _never() -> bool:
    return False


def _end(process: _Process) -> None:
    _signal(process, signal.SIGTERM)
    try:
        process.popen.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        _signal(process, signal.SIGKILL)
        process.popen.wait()


def _signal(process: _Process, number: signal.Signals) -> None:
    if process.popen.poll() is None:
        os.killpg(process.popen.pid, number)
