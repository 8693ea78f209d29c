"""How a call of the command line ended, and small changes to a repository."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import click

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Ended:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


def process(*args: str, cwd: Path, stdout: int | IO[bytes] = subprocess.PIPE) -> Ended:
    """Call the command line as a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "trainyard", *args],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY / "generator")},
        stdout=stdout,
        stderr=subprocess.PIPE,
        check=False,
    )
    return Ended(done.returncode, (done.stdout or b"").decode(), done.stderr.decode())


def commands(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield each command of a group with the words that call it, those of its groups too."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{path}{name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path}{name} ")


def edit(file: Path, old: str, new: str) -> None:
    """Replace text that is there in a file."""
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
