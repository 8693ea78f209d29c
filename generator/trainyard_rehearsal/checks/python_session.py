"""A session of Python that runs one block after the other, as a notebook does."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trainyard import programs
from trainyard_rehearsal.control_plane.processes import Processes

_SECONDS: Final = 600.0
"""Seconds for a block that takes five on an idle machine."""

_PROGRAM: Final = """
import pathlib, sys, time
folder, scope = pathlib.Path(sys.argv[1]), {}
for number, block in enumerate(sys.argv[2:]):
    while not (folder / f"run-{number}").exists():
        time.sleep(0.1)
        if (folder / "end").exists():
            sys.exit()
    print(f"block {number}:", flush=True)
    cell = folder / f"cell_{number}.py"
    cell.write_text(block)
    exec(compile(block, cell, "exec"), scope)
    result = folder / f"result-{number}"
    result.write_text(str(scope.get("job", "")))
    result.rename(folder / f"ran-{number}")
"""
"""Runs the block N when there is a file ``run-N``, and writes the variable ``job`` to ``ran-N``.

The file `ran-N` is whole as soon as it is there.
Each block has a file, in which the SDK finds the source of its functions.
"""

_CHAINED: Final = re.compile(r"\n\n(?:The above exception was|During handling of) .*\n\n")


@dataclass(frozen=True, slots=True)
class Session:
    """A running session.

    Args:
        folder: has the files that start its blocks.
        done: result of its program.
    """

    folder: Path
    done: Future[programs.Completed]

    def run(self, number: int, processes: Processes) -> str:
        """Run a block; return Python's exceptions if it fails, the cause first, else nothing."""
        ran = self.folder / f"ran-{number}"
        (self.folder / f"run-{number}").touch()
        if not processes.waited(lambda: ran.exists() or self.done.done(), _SECONDS):
            return f"does not end within {_SECONDS:.0f} s"
        return "" if ran.exists() else exceptions(self.done.result().stderr)

    def job(self, number: int) -> str:
        """Return the name of the job that a block submitted; empty for none."""
        return (self.folder / f"ran-{number}").read_text(encoding="utf-8")


@contextmanager
def python_session(
    parent: Path, blocks: Sequence[str], variables: Mapping[str, str]
) -> Iterator[Session]:
    """Start a session with some blocks and environment variables, and end it on any exit.

    Args:
        parent: folder in which the session gets one of its own.
        blocks: in their order.
        variables: environment of the program.
    """
    folder = Path(tempfile.mkdtemp(dir=parent))
    command = [sys.executable, "-c", _PROGRAM, str(folder), *blocks]

    def run() -> programs.Completed:
        return programs.run(
            command,
            environment=variables,
            timeout=_SECONDS * len(blocks),
            accept=programs.ANY_CODE,
        )

    with ThreadPoolExecutor(1) as pool:
        session = Session(folder, pool.submit(run))
        try:
            yield session
        finally:
            (folder / "end").touch()


def exceptions(error: str) -> str:
    """Return the last line of each traceback of a chain, the cause first.

    The SDK hides what it can't read behind "Failed to list".
    """
    tracebacks = _CHAINED.split(error.strip())
    return "; ".join(traceback.rpartition("\n")[2] for traceback in tracebacks)
