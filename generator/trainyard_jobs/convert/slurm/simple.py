"""Refuse scripts that are more than simple commands around one launch."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard_jobs.convert.model import RefusedError
from trainyard_jobs.convert.slurm.launchers import is_launch
from trainyard_jobs.convert.slurm.shell import WRAP_WHOLE, Statement
from trainyard_jobs.convert.words import words

_KEYWORDS = words(
    """
    for while until if case select function { } do done then elif else fi esac [[ coproc
    """
)
_MOST = 500
"""Commands of a script: a longer one is a program, which belongs into the image."""


def need_simple(commands: Sequence[Statement]) -> None:
    """Refuse a script that is more than simple commands around one launch.

    Raises:
        RefusedError: it has a loop, a function, a background command, or several launches.
    """
    if len(commands) > _MOST:
        what = f"{len(commands)} commands"
        raise RefusedError(commands[_MOST].at, what, f"at most {_MOST} are read", WRAP_WHOLE)
    launches = list(filter(is_launch, commands))
    waits = any(statement.name == "wait" for statement in commands)
    for statement in commands:
        _need_simple(statement, launches, waits=waits)


def _need_simple(statement: Statement, launches: Sequence[Statement], *, waits: bool) -> None:
    """Refuse what is not a simple command."""
    word = statement.words[0]
    if word.raw in _KEYWORDS:
        reason = "only simple commands can be converted"
        raise RefusedError(word.at, f"`{word.raw}`", reason, WRAP_WHOLE)
    if statement.end == "&" and (launches != [statement] or not waits):
        raise RefusedError(word.at, f"`{statement.name} ... &`", _BACKGROUND, _APART)
    if statement in launches[1:]:
        what = f"a second launch, `{statement.name}`"
        reason = f"the first one is in line {launches[0].at.line}; a TrainJob has one"
        raise RefusedError(word.at, what, reason, WRAP_WHOLE)


_BACKGROUND = (
    "the ranks of a TrainJob start once and together; a command in the background has no place"
)
_APART = "Write a TrainJob for each part that runs at the same time."
