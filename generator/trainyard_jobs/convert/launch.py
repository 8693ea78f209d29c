"""Rewrite a call that starts ranks for a runtime, which gives the hosts and the number of ranks."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from trainyard.model.launcher import INTEL_MPI, LAUNCHERS
from trainyard_jobs.convert import horovod
from trainyard_jobs.convert.arguments import HOROVODRUN, HYDRA, OPEN_MPI, Line, Option, read_line
from trainyard_jobs.convert.model import Kind
from trainyard_jobs.convert.options import Ranks, Verdict, judge, per_node

Remark = tuple[int, Kind, str, str]
"""Index of a word, and kind, what and meaning of a note about it."""

MPI = frozenset({"mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun"})
"""Programs of MPI that start ranks."""

_HOROVOD = "horovodrun"


@dataclass(frozen=True, slots=True)
class Call:
    """A call as a TrainJob has it.

    Args:
        command: the launcher.
        args: its options, the program of the ranks and that one's arguments.
        env: variables in place of options.
        remarks: about words of the source.
        slots: ranks of each node that the call states; 0 for those of the job.
    """

    command: tuple[str, ...]
    args: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    slots: int = 0


def program_of(word: str) -> str:
    """Return the name of a program without its folder."""
    return word.rpartition("/")[2]


def starts_ranks(word: str) -> bool:
    """Return whether a word is the program of a call that `rewrite` understands."""
    return program_of(word) in {*MPI, _HOROVOD}


def rewrite(words: Sequence[str], ranks: Ranks) -> Call:
    """Return a call without what the runtime decides.

    Args:
        words: of a call that `starts_ranks`.
        ranks: of the job.
    """
    if program_of(words[0]) == _HOROVOD:
        return _of_horovod(words, ranks)
    is_intel = ranks.launcher == INTEL_MPI.name
    line = read_line(words, HYDRA if is_intel else OPEN_MPI)
    slots = per_node(line)
    asked = replace(ranks, slots=slots or ranks.slots)
    kept, remarks = _sifted(line, lambda option: judge(line, option, asked))
    kept = kept if is_intel else _two_dashes(kept)
    command = LAUNCHERS[ranks.launcher].command
    remarks += [*_moved(line), *_left(line)]
    if asked != ranks:
        remarks.append((0, *of_slots(slots, ranks)))
    return Call(command, (*kept, *line.rest), {}, tuple(remarks), slots)


def of_slots(slots: int, ranks: Ranks) -> tuple[Kind, str, str]:
    """Return the note about a call that states the ranks of each node."""
    text = f"numProcPerNode is {slots}, as the call says, not {ranks.slots}"
    return Kind.CHANGED, "ranks of each node", text


def _of_horovod(words: Sequence[str], ranks: Ranks) -> Call:
    line = read_line(words, HOROVODRUN)
    kept, remarks = _sifted(line, lambda option: horovod.judge(option, ranks))
    for option in line.options:
        if option.name == "mpi-args":
            call = _of_mpi_args(option, ranks)
            kept += call.args
            remarks += call.remarks
    text = "mpirun starts the ranks; it maps and binds them as the runtime does"
    remarks = [(0, Kind.CHANGED, _HOROVOD, text), *remarks, *_left(line)]
    command = LAUNCHERS[ranks.launcher].command
    return Call(command, (*kept, *line.rest), horovod.environment(line), tuple(remarks))


def _of_mpi_args(option: Option, ranks: Ranks) -> Call:
    """Return the options for ``mpirun`` that are the value of one of ``horovodrun``."""
    try:
        words = shlex.split(option.values[0])
    except ValueError:
        text = "a quote in it is not closed: write these options where mpirun gets them"
        return Call((), (), {}, ((option.index, Kind.CHOOSE, f"`--{option.name}`", text),))
    line = read_line(["mpirun", *words], OPEN_MPI)
    kept, remarks = _sifted(line, lambda inner: judge(line, inner, ranks))
    kept = _two_dashes(kept)
    placed = tuple((option.index, kind, what, meaning) for _, kind, what, meaning in remarks)
    return Call((), (*kept, *line.rest), {}, placed)


def _sifted(line: Line, judged: Callable[[Option], Verdict]) -> tuple[list[str], list[Remark]]:
    """Return the words of the options that stay, and remarks about all."""
    kept: list[str] = []
    remarks: list[Remark] = []
    for option in line.options:
        verdict = judged(option)
        kept += option.words if verdict.keep else ()
        if verdict.meaning:
            what = f"`{' '.join(option.words)}`"
            remarks.append((option.index, verdict.kind, what, verdict.meaning))
    return kept, remarks


ONE_DASH = frozenset({"bind-to", "map-by", "rank-by"})
"""Options that Open MPI 5 does not know with one dash, and Open MPI 4 does (seen with 5.0.11)."""


def _two_dashes(words: Sequence[str]) -> list[str]:
    """Return options of Open MPI as each of its versions reads them."""
    return [f"-{word}" if word[:1] == "-" and word[1:] in ONE_DASH else word for word in words]


def _moved(line: Line) -> Iterator[Remark]:
    """Yield a remark about a program in a folder, which another image does not have."""
    if "/" in line.program:
        text = "the launcher of the runtime starts the ranks"
        yield 0, Kind.CHANGED, f"`{line.program}`", text


def _left(line: Line) -> Iterator[Remark]:
    """Yield remarks about what was not read."""
    if line.unknown:
        text = "it and what follows it were kept as they are: the option is unknown"
        yield line.start, Kind.CHOOSE, f"`{line.unknown}`", text
    if ":" in line.rest:
        text = "several programs: check the number of ranks of each"
        yield line.start + line.rest.index(":"), Kind.CHOOSE, "`:`", text
    if not line.rest:
        yield 0, Kind.REFUSED, f"`{line.program}`", "it starts no program"
