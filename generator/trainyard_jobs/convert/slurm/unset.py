"""Take away variables of a batch script."""

from __future__ import annotations

from dataclasses import replace

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.slurm.assign import FIXED, FOLLOWED
from trainyard_jobs.convert.slurm.script import Line, Script, set_by
from trainyard_jobs.convert.slurm.shell import Statement
from trainyard_jobs.convert.slurm.variables import reason_to_drop


def unset(script: Script, statement: Statement) -> None:
    """Take away variables; what the script does not set is noted.

    Raises:
        RefusedError: it takes away something else.
    """
    names = [word.raw for word in statement.words[1:] if word.raw != "-v"]
    if not all(map(str.isidentifier, names)):
        raise statement.refused(FOLLOWED)
    for name in names:
        if name in script.fixed:
            raise statement.refused(FIXED.format(name))
        _unset(script, name, statement.at)
        if not script.launch:
            _forget(script, name)


def _unset(script: Script, name: str, at: Pointer) -> None:
    if name in set_by(script.before):
        script.lines.append(Line(f"unset {name}", at, "", frozenset({name})))
    else:
        reason = reason_to_drop(name, "") or "the script does not set it"
        script.remarks.dropped(at, f"`unset {name}`", reason)


def _forget(script: Script, name: str) -> None:
    script.known.pop(name, None)
    script.exported.discard(name)
    script.parts.forget(name)
    for index, line in enumerate(script.before):
        if name in line.sets:
            script.before[index] = replace(line, exported=frozenset())
