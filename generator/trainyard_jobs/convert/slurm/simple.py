"""Refuse what no job of pods has: commands in the background, and what needs a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard_jobs.convert.model import RefusedError
from trainyard_jobs.convert.remarks import Remarks
from trainyard_jobs.convert.slurm.launchers import is_launch
from trainyard_jobs.convert.slurm.script import REPORTS
from trainyard_jobs.convert.slurm.shell import Statement

_MOST = 500
"""Commands of a script: a longer one is a program, which belongs into the image."""


def convertible(commands: Sequence[Statement], remarks: Remarks) -> list[Statement]:
    """Return commands without those that no pod runs, each of which is noted."""
    launches = launches_of(commands)
    waits = any(each.name == "wait" for each in commands)
    kept: list[Statement] = []
    for number, statement in enumerate(commands):
        if number == _MOST:
            what, reason = f"{len(commands)} commands", f"at most {_MOST} are read"
            remarks.add(RefusedError(statement.at, what, reason).remark)
            break
        if _is_report_beside(statement):
            remarks.dropped(statement.at, f"`{_shown(statement)} &`", "it prints beside the ranks")
            continue
        alone = waits and launches == [statement]
        found = list(_refused(statement, is_alone=alone))
        remarks.add(*(error.remark for error in found))
        if not found:
            kept.append(statement)
    return kept


def launches_of(commands: Sequence[Statement]) -> list[Statement]:
    """Return the commands that start ranks, also those in blocks."""
    return [each for statement in commands for each in statement.simple if is_launch(each)]


def is_framed(commands: Sequence[Statement]) -> bool:
    """Return whether launches have to stay where they are: in a block, or several."""
    launches = launches_of(commands)
    return len(launches) > 1 or any(launch not in commands for launch in launches)


def _is_report_beside(statement: Statement) -> bool:
    """Return whether a command in the background only prints something."""
    names = {each.name for each in statement.simple}
    quiet = {*REPORTS, "sleep", "true", "[", "[[", "test"}
    return statement.end == "&" and names <= quiet


def _refused(statement: Statement, *, is_alone: bool) -> list[RefusedError]:
    """Return the commands of a statement that have no counterpart."""
    found = []
    if statement.words[0].raw in {"select", "coproc"}:
        found.append(statement.refused("a job has no terminal, and no command beside its ranks"))
    for each in {statement, *statement.simple}:
        if each.end == "&" and not is_alone:
            what = f"`{_shown(each)} ... &`"
            found.append(RefusedError(each.at, what, _BACKGROUND, _APART))
    return found


def _shown(statement: Statement) -> str:
    return statement.name if statement.inner is None else statement.words[0].raw


_BACKGROUND = (
    "the ranks of a TrainJob start once and together; a command in the background has no place"
)
_APART = "Write a TrainJob for each part that runs at the same time."
