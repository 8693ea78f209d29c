"""Run other programs to their end: none hangs, floods the memory or outlives the caller.

Every program that Trainyard waits for is started here. Programs that keep running beside it are
started by ``trainyard_rehearsal/control_plane/processes.py``.
"""

from __future__ import annotations

import ctypes
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from errno import ENOENT
from functools import partial
from pathlib import Path

from trainyard.diagnostics import ToolError

ANY_CODE = range(-64, 256)
"""Every way in which a program can end: by a signal (negative), or with an exit code."""

AN_HOUR = 3600.0
"""Seconds for a program that downloads, compiles or starts a cluster."""

OUTPUT_LIMIT = 64 * 1024 * 1024
"""Bytes a program may print on stdout and stderr together."""

_TAIL = 2000
"""Characters of stderr that are shown when a program fails."""

_GARBAGE = "400"
"""``GOGC``: a Go program may let garbage grow to five times what it uses. Kustomize takes a third
less time for a team's unit then, and 161 MiB instead of 72 for one of 1,200 objects."""

_NOWHERE = "http://127.0.0.1:9"
"""A proxy that does not exist (9 is the discard port): a program that fetches something fails at
once."""

_LIBC = ctypes.CDLL(None, use_errno=True)
_SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG, prctl(2)


class NotStartedError(ToolError):
    """A program is missing or is not a program for this machine."""


@dataclass(frozen=True, slots=True)
class Completed:
    """The exit code of a program that ended by itself, and what it printed."""

    code: int
    stdout: str
    stderr: str


def run(
    command: Sequence[str | Path],
    *,
    timeout: float,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    accept: Collection[int] = (0,),
) -> Completed:
    """Run a program to its end, with no input, and return what it printed.

    Args:
        command: the program and its arguments; a bare name is looked up by `find` in ``PATH`` of
            the environment.
        timeout: seconds.
        cwd: folder it runs in.
        environment: its variables; by default few, and none that lets it reach the network.
        accept: exit codes that are an answer; any other is a failure.

    Raises:
        NotStartedError: it can't be started.
        ToolError: it takes too long, prints too much or no UTF-8, crashes, or fails.
    """
    name = _name(command)
    variables = _isolated() if environment is None else environment
    with _started(command, cwd, variables) as process:
        stdout, stderr = _collect(process, name, time.monotonic() + timeout)
        code = process.returncode
    try:
        completed = Completed(code, stdout.decode(), stderr.decode(errors="replace"))
    except UnicodeDecodeError as error:
        raise ToolError(f"{name} printed something that is not UTF-8") from error
    if code not in accept:
        raise _failed(name, code, completed.stderr or completed.stdout)
    return completed


def read_from(
    command: Sequence[str | Path],
    *,
    timeout: float,
    environment: Mapping[str, str],
    stdin: bytes = b"",
    accept: Collection[int] = (0,),
) -> bytes:
    """Return the bytes that a program prints for some input.

    Args:
        command: as ``run`` takes it.
        timeout: seconds.
        environment: its variables.
        stdin: what it reads.
        accept: exit codes that are an answer; any other is a failure.

    Raises:
        NotStartedError: it can't be started.
        ToolError: it takes too long, prints too much, crashes, or fails.
    """
    name = _name(command)
    # A file, unlike a pipe, needs nobody who writes while the output is read.
    with tempfile.TemporaryFile() as source:
        source.write(stdin)
        source.seek(0)
        with _started(command, None, environment, source.fileno()) as process:
            stdout, stderr = _collect(process, name, time.monotonic() + timeout)
            code = process.returncode
    if code not in accept:
        raise _failed(name, code, stderr.decode(errors="replace"))
    return stdout


def find(name: str, path: str | None = None) -> Path | None:
    """Return the absolute path of a program; None if there is none.

    Args:
        name: without a folder.
        path: folders to look in, as ``PATH`` has them, which is the default.
    """
    programs = (Path(folder) / name for folder in folders(path))
    return next((each for each in programs if each.is_file() and os.access(each, os.X_OK)), None)


def folders(path: str | None = None) -> Iterator[str]:
    """Yield the folders of ``PATH`` from which a program may run.

    Left out are the current folder and relative ones, which an empty entry is too: they may hold a
    stranger's commit.
    """
    here = os.path.realpath(os.curdir)
    listed = os.environ.get("PATH", os.defpath) if path is None else path
    for folder in listed.split(os.pathsep):
        if Path(folder).is_absolute() and os.path.realpath(folder) != here:
            yield folder


def trusted(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a program, whose own lookups find no stranger's program either."""
    if "PATH" not in environment:
        return dict(environment)
    return {**environment, "PATH": os.pathsep.join(folders(environment["PATH"]))}


def _located(program: str | Path, environment: Mapping[str, str]) -> Path:
    """Return the path of a program, which may be named without one.

    Raises:
        FileNotFoundError: there is none of that name.
    """
    if os.sep in str(program):
        return Path(program)
    found = find(str(program), environment.get("PATH", os.defpath))
    if found is None:
        raise FileNotFoundError(ENOENT, os.strerror(ENOENT), str(program))
    return found


def dying_with_parent() -> Callable[[], None]:
    """Return what a child does between fork and exec, so that it ends when this process does."""
    return partial(_die_with_parent, os.getpid())


def _die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends; end now if it has ended already."""
    if sys.platform == "linux":
        _LIBC.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        signal.raise_signal(signal.SIGKILL)


@contextmanager
def _started(
    command: Sequence[str | Path],
    cwd: Path | None,
    environment: Mapping[str, str],
    stdin: int = subprocess.DEVNULL,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program in a process group of its own, and kill the whole group afterwards."""
    variables = trusted(environment)
    try:
        process = subprocess.Popen(
            [_located(command[0], variables), *command[1:]],
            cwd=cwd,
            env=variables,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
            preexec_fn=dying_with_parent(),  # noqa: PLW1509 - system calls between fork and exec
        )
    except OSError as error:
        raise NotStartedError(f"{command[0]} can't be started: {error.strerror}") from error
    with process:
        try:
            yield process
        finally:
            _end_group(process)


def _name(command: Sequence[str | Path]) -> str:
    """Return a command as messages show it: the program, and the subcommand if it has one."""
    program = Path(command[0]).name
    if len(command) == 1 or str(command[1]).startswith("-"):
        return f"`{program}`"
    return f"`{program} {command[1]}`"


def _isolated() -> dict[str, str]:
    """Return the least a program needs; without PATH it finds no git to fetch with."""
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    fixed = {"LC_ALL": "C.UTF-8", "GOGC": _GARBAGE}
    return {**kept, **fixed, "HTTP_PROXY": _NOWHERE, "HTTPS_PROXY": _NOWHERE}


def _end_group(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        # The group is empty. macOS raises PermissionError when it holds only a zombie.
        return


def _collect(process: subprocess.Popen[bytes], name: str, deadline: float) -> tuple[bytes, bytes]:
    """Read both streams to their end and wait for the program."""
    assert process.stdout is not None
    assert process.stderr is not None
    streams = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
    _read(streams, name, deadline)
    try:
        process.wait(_left(deadline, name))
    except subprocess.TimeoutExpired as error:
        raise _too_long(name) from error
    stdout, stderr = streams.values()
    return bytes(stdout), bytes(stderr)


def _read(streams: dict[int, bytearray], name: str, deadline: float) -> None:
    """Fill the buffer of each file descriptor with all that can be read from it."""
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select(_left(deadline, name)):
                chunk = os.read(key.fd, 1 << 16)
                streams[key.fd] += chunk
                if not chunk:
                    selector.unregister(key.fd)
            if sum(map(len, streams.values())) > OUTPUT_LIMIT:
                raise ToolError(f"{name} printed more than {OUTPUT_LIMIT >> 20} MB")


def _left(deadline: float, name: str) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise _too_long(name)
    return left


def _failed(name: str, code: int, said: str) -> ToolError:
    return ToolError(f"{name} failed with {_ending(code)}: {said.strip()[-_TAIL:]}")


def _too_long(name: str) -> ToolError:
    return ToolError(f"{name} did not end in time and was stopped")


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
