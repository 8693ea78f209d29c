"""What commands of a script read: refuse what only Slurm gives, and note what nothing sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import repeat

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.model import RefusedError
from trainyard_jobs.convert.slurm.expand import names_in
from trainyard_jobs.convert.slurm.script import OF_SLURM, Line, Script, set_by
from trainyard_jobs.convert.slurm.shell import parameter_in
from trainyard_jobs.convert.slurm.variables import IN_EVERY_POD, JOB_ID, RANK


def reads_slurms(script: Script, line: Line, slurms: AbstractSet[str]) -> bool:
    """Return whether a command reads what only Slurm's variables and programs give."""
    return any(name in slurms or _is_slurms(script, name) for name in line.reads)


def _is_slurms(script: Script, name: str) -> bool:
    """Return whether only Slurm sets a variable."""
    return name.startswith("SLURM") and name not in {*JOB_ID, *RANK, *script.known}


def need_readable(script: Script, lines: Sequence[Line], used: Sequence[str]) -> None:
    """Refuse what only Slurm gives, each by itself; note variables that nothing sets."""
    for line in lines:
        with script.remarks.collected():
            _need_line(line)
    for word in used:
        _need_no_parameter(script.started, word)
    own = {*set_by(lines), *script.known, *script.env, *JOB_ID, *RANK, *IN_EVERY_POD}
    readable = [line for line in lines if not OF_SLURM.search(line.text)]
    for place, name in all_read(script, readable, used):
        if name not in own:
            _note_unset(script, place, name)


def _need_line(line: Line) -> None:
    _need_no_parameter(line.at, line.text)
    if variable := OF_SLURM.search(line.text):
        reason = f"no pod has `{variable[1]}`; {_INSTEAD}"
        raise line.refused(reason)


_INSTEAD = (
    "/etc/mpi/hostfile of an MPI launcher names the nodes, and PET_MASTER_ADDR the first one where "
    "torchrun starts the ranks"
)


def _need_no_parameter(at: Pointer | None, text: str) -> None:
    if at and (parameter := parameter_in(text)):
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
        script.remarks.add(RefusedError(at, f"${name}", "only Slurm sets it").remark)
        return
    meaning = "nothing sets it here: give it in spec.trainer.env, or write its value"
    script.remarks.choose(at, f"${name}", meaning)
