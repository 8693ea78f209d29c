"""Running another program so that it can't hang, flood, phone home or leave children behind."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from trainyard.diagnostics import ToolError

OUTPUT_LIMIT = 64 * 1024 * 1024
"""Bytes a program may print on stdout and stderr together."""

_TAIL = 2000
"""Characters of stderr that are shown when a program fails."""

_running: set[subprocess.Popen[bytes]] = set()
"""Programs that run now, in any thread."""

_NOWHERE = "http://127.0.0.1:9"
"""A proxy that is not there (9 is the discard port): a program that tries to fetch something fails
at once."""


@dataclass(frozen=True, slots=True)
class Completed:
    """What a program left when it ended by itself."""

    code: int
    stdout: str
    stderr: str


def run(
    program: Path,
    args: Sequence[str],
    *,
    timeout: float,
    cwd: Path | None = None,
    accept: Collection[int] = (0,),
) -> Completed:
    """Run a program to its end, with no input and no network, and return what it printed.

    Args:
        program: absolute path.
        args: its arguments.
        timeout: seconds.
        cwd: folder it runs in.
        accept: exit codes that are an answer; any other is a failure.

    Raises:
        ToolError: it can't be started, takes too long, prints too much or no UTF-8, crashes, or
            fails.
    """
    with _started(program, args, cwd) as process:
        stdout, stderr = _collect(process, program.name, time.monotonic() + timeout)
        code = process.returncode
    try:
        completed = Completed(code, stdout.decode(), stderr.decode(errors="replace"))
    except UnicodeDecodeError as error:
        raise ToolError(f"{program.name} printed something that is not UTF-8") from error
    if code not in accept:
        raise ToolError(
            f"{program.name} failed with {_ending(code)}: {completed.stderr.strip()[-_TAIL:]}"
        )
    return completed


def end_all() -> None:
    """End every program that runs now, for threads whose results nobody wants any more."""
    for process in tuple(_running):
        _end_group(process)


@contextmanager
def _started(
    program: Path, args: Sequence[str], cwd: Path | None
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program in a group of its own, and end the whole group afterwards whatever happens."""
    try:
        process = subprocess.Popen(
            [program, *args],
            cwd=cwd,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
        )
    except OSError as error:
        raise ToolError(f"{program} can't be started: {error.strerror}") from error
    with process:
        _running.add(process)
        try:
            yield process
        finally:
            _running.discard(process)
            _end_group(process)


def _environment() -> dict[str, str]:
    """Return the least a program needs; without PATH it finds no git to fetch with."""
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    return {**kept, "LC_ALL": "C.UTF-8", "HTTP_PROXY": _NOWHERE, "HTTPS_PROXY": _NOWHERE}


def _end_group(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        # Nobody is left; macOS says PermissionError when only a zombie is.
        return


def _collect(process: subprocess.Popen[bytes], name: str, deadline: float) -> tuple[bytes, bytes]:
    """Read both streams to their end and wait for the program."""
    assert process.stdout is not None
    assert process.stderr is not None
    streams = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
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
    try:
        process.wait(_left(deadline, name))
    except subprocess.TimeoutExpired as error:
        raise _too_long(name) from error
    stdout, stderr = streams.values()
    return bytes(stdout), bytes(stderr)


def _left(deadline: float, name: str) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise _too_long(name)
    return left


def _too_long(name: str) -> ToolError:
    return ToolError(f"{name} did not end in time and was stopped")


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
