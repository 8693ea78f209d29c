"""Note where a script names hosts that a TrainJob does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Pointer
from trainyard.model.launcher import LAUNCHERS
from trainyard_jobs.convert.model import Remark
from trainyard_jobs.convert.scripts import logins
from trainyard_jobs.convert.slurm.command import Command
from trainyard_jobs.convert.slurm.script import Script

_NAME = "MASTER_ADDR"
_SHORT = re.compile(r"\$\((?:hostname(?: -s)?|uname -n)\)|`hostname`|\$\{?HOSTNAME\}?")
_MEETING = (
    "no other pod knows this name: take the first one of /etc/mpi/hostfile, or start the program "
    "with torchrun, which sets the variable"
)


def note_hosts(script: Script, command: Command) -> None:
    """Note logins to other hosts, and a place to meet that nobody finds."""
    texts = [(line.at, line.text) for line in (*command.before, *command.after)]
    if script.started:
        texts.append((script.started, " ".join(command.words)))
    for at, text in texts:
        for kind, what, meaning in logins(text):
            script.remarks.add(Remark(at, kind, what, meaning))
    if LAUNCHERS[command.launcher].mpi:
        for at, text in _meetings(script, command):
            script.remarks.choose(at, f"`{text}`", _MEETING)


def _meetings(script: Script, command: Command) -> Iterator[tuple[Pointer, str]]:
    """Yield where the ranks of MPI shall meet at a constant, or at a short name."""
    if _NAME in script.env:
        value, at = script.env[_NAME]
        yield at, f"{_NAME}={value}"
    for line in command.before:
        known = script.known.get(_NAME)
        if _NAME in line.sets and (known is not None or _SHORT.search(line.text)):
            yield line.at, line.text
