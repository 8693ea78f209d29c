"""What commands of a script read: refuse what only Slurm gives, and note what nothing sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import repeat

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.model import RefusedError
from trainyard_jobs.convert.slurm.expand import names_in
from trainyard_jobs.convert.slurm.script import OF_SLURM, Line, Script, set_by
from trainyard_jobs.convert.slurm.shell import Token
from trainyard_jobs.convert.slurm.variables import IN_EVERY_POD, JOB_ID, RANK


def reads_slurms(script: Script, line: Line, slurms: AbstractSet[str]) -> bool:
    """Return whether a command reads what only Slurm's variables and programs give."""
    return any(name in slurms or _is_slurms(script, name) for name in line.reads)


def _is_slurms(script: Script, name: str) -> bool:
    """Return whether only Slurm sets a variable."""
    return name.startswith("SLURM") and name not in {*JOB_ID, *RANK, *script.known}


def need_readable(script: Script, lines: Sequence[Line], used: Sequence[str]) -> None:
    """Refuse what only Slurm gives; note variables that nothing sets."""
    for line in lines:
        _need_no_parameter(line.at, line.text)
        if variable := OF_SLURM.search(line.text):
            reason = f"no pod has `{variable[1]}`; /etc/mpi/hostfile of a launcher names the nodes"
            raise line.refused(reason)
    for word in used:
        _need_no_parameter(script.started, word)
    own = {*set_by(lines), *script.known, *script.env, *JOB_ID, *RANK, *IN_EVERY_POD}
    for place, name in all_read(script, lines, used):
        if name not in own:
            _note_unset(script, place, name)


def _need_no_parameter(at: Pointer | None, text: str) -> None:
    if at and (parameter := Token(text, at).counted):
        reason = "only sbatch gives the script its arguments: write their values"
        raise RefusedError(at, f"`{parameter}`", reason)


def all_read(
    script: Script, lines: Iterable[Line], used: Iterable[str]
) -> Iterator[tuple[Pointer, str]]:
    """Yield the variables that commands and the words of a launch read, with their places."""
    readers = [(line.at, line.text) for line in lines]
    if at := script.started:
        readers += zip(repeat(at), used)
    for place, text in readers:
        for name in sorted(names_in(text)):
            yield place, name


def _note_unset(script: Script, at: Pointer, name: str) -> None:
    if _is_slurms(script, name):
        raise RefusedError(at, f"${name}", "only Slurm sets it")
    meaning = "nothing sets it here: give it in spec.trainer.env, or write its value"
    script.remarks.choose(at, f"${name}", meaning)
