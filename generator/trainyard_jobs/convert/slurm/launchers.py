"""Which commands start the ranks of a job."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trainyard_jobs.convert.launch import starts_ranks
from trainyard_jobs.convert.slurm.shell import Statement, Token, texts
from trainyard_jobs.convert.torchrun import starter

OTHERS = {
    "ray": "a Ray cluster has no counterpart in a TrainJob: KubeRay's RayJob is one, or start the "
    "program's ranks with torchrun",
    **dict.fromkeys(("jsrun", "aprun"), "it belongs to another batch system"),
    "ibrun": "only one site has it; write what it runs: `mpirun PROGRAM`",
    "parallel": "it starts many small jobs; write an array or a TrainJob for each",
}
"""Launchers that have no counterpart, and what has."""
_PREFIXES = frozenset({"exec", "time", "nohup", "command"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


def without_prefix(words: Sequence[Token]) -> Sequence[Token]:
    """Return a command without assignments and words such as ``time`` before it."""
    rest = list(words)
    while rest and (rest[0].raw in _PREFIXES or _ASSIGNMENT.match(rest[0].raw)):
        rest.pop(0)
    return rest


def program(words: Sequence[Token]) -> str:
    """Return the name of the launcher that a command begins with; empty for another program."""
    rest = without_prefix(words)
    if not rest:
        return ""
    name = rest[0].text.rpartition("/")[2]
    if name == "srun" or starts_ranks(name) or name in OTHERS:
        return name
    return starter(texts(rest))


def is_launch(statement: Statement) -> bool:
    """Return whether a command starts the ranks of a job."""
    return bool(program(statement.words))
