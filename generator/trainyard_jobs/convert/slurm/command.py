"""Write the command of a TrainJob: the launch alone, or a shell script around it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from trainyard.diagnostics import Pointer
from trainyard.model.expansion import literal
from trainyard.model.launcher import LAUNCHERS, OPENMPI, TORCHRUN
from trainyard_jobs.convert.forwarding import passed
from trainyard_jobs.convert.launch import rewrite
from trainyard_jobs.convert.model import Remark
from trainyard_jobs.convert.options import Ranks
from trainyard_jobs.convert.slurm.expand import expanded, names_in, read_by
from trainyard_jobs.convert.slurm.readable import all_read, need_readable, reads_slurms
from trainyard_jobs.convert.slurm.script import REPORTS, Line, Script, set_by
from trainyard_jobs.convert.slurm.shell import Token
from trainyard_jobs.convert.slurm.variables import (
    JOB_ID,
    NAME_OF_JOB,
    OF_RANK,
    RANK,
    RENDEZVOUS,
)

_OF_SHELL = re.compile(r"[$`|<>*?&\[{~!]|^[A-Za-z_]\w*\+?=")
"""What only a shell understands."""
_SUBSTITUTES = re.compile(r"\$\(|`|\$RANDOM")


@dataclass(slots=True)
class Command:
    """The command of a TrainJob.

    Args:
        words: with raw ones that a shell has to expand.
        before, after: commands of the script around it.
        raw: words that are written as the script has them.
        end: operator after the launch.
        env: variables that the call's options become.
        slots: ranks of each node that the call states; 0 for those of the job.
    """

    launcher: str
    words: list[str]
    before: list[Line] = field(default_factory=list)
    after: list[Line] = field(default_factory=list)
    raw: frozenset[str] = frozenset()
    end: str = ""
    env: dict[str, str] = field(default_factory=dict)
    slots: int = 0

    def split(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return command and args of the TrainJob."""
        used = self.raw & set(self.words)
        if not (used or self.before or self.after):
            return (literal(self.words[0]),), tuple(map(literal, self.words[1:]))
        return ("/bin/bash", "-c"), (literal(self._script()),)

    def _script(self) -> str:
        call = _quoted(self.words, self.raw)
        if not self.after:
            call = f"exec {call}"
        call += f" {self.end} " if self.end else "\n"
        script = _joined(self.before) + call + _joined(self.after)
        return script if script.endswith("\n") else f"{script.rstrip(' &|')}\n"


def _joined(lines: Iterable[Line]) -> str:
    """Return commands as lines of a script; those that an operator joins are one line."""
    script = ""
    for line in lines:
        script += f"{line.text} {line.end} " if line.end else f"{line.text}\n"
    return script


def _quoted(words: Iterable[str], raw: Collection[str]) -> str:
    """Return words as a shell reads them; raw ones are left for it to expand."""
    return " ".join(word if word in raw else shlex.quote(word) for word in words)


def mpi_call(script: Script, words: Sequence[Token], ranks: Ranks, *, by_srun: bool) -> Command:
    """Return the call of ``mpirun``, as the script has it or in place of srun."""
    texts, raw = _spelled(words, script)
    if by_srun:
        command = Command(ranks.launcher, [*LAUNCHERS[ranks.launcher].command, *texts], raw=raw)
        if RANK & read_by(words):
            own = f'export {OF_RANK[ranks.launcher]}; exec "$@"'
            command.words[1:1] = ["/bin/bash", "-c", own, "rank"]
        return command
    call = rewrite(texts, ranks)
    for index, kind, what, meaning in call.remarks:
        at = words[min(index, len(words) - 1)].at
        script.remarks.add(Remark(at, kind, what, meaning))
    result = [*call.command, *call.args]
    return Command(ranks.launcher, result, raw=raw, env=dict(call.env), slots=call.slots)


def torch_call(script: Script, words: Sequence[Token]) -> Command:
    """Return the call of torchrun, which a script has."""
    texts, raw = _spelled(words, script)
    return Command(TORCHRUN.name, [*TORCHRUN.command, *texts], raw=raw)


def torch_ranks(script: Script, words: Sequence[Token]) -> Command:
    """Return a call of torchrun that gives each rank the variables that srun gave it."""
    texts, raw = _spelled(words, script)
    needed = (read_by(words) | _exported(script.before) - script.parts.used) - RENDEZVOUS
    lines = _needed([line for line in script.before if not line.name], needed)
    script.before = [line for line in script.before if line not in lines]
    need_readable(script, lines, [])
    _need_same(lines)
    own = [f"export {OF_RANK[TORCHRUN.name]}", *(line.text for line in lines)]
    text = "\n".join([*own, f"exec {_quoted(texts, raw)}", ""])
    return Command(TORCHRUN.name, ["torchrun", "--no-python", "/bin/bash", "-c", text])


def _exported(lines: Iterable[Line]) -> set[str]:
    return set_by(line for line in lines if line.exports)


def one_program(script: Script, words: Sequence[Token]) -> Command:
    """Return the programs of a script that Slurm runs once, on the first node."""
    if words:
        texts, raw = _spelled(words, script)
        return Command(TORCHRUN.name, texts, raw=raw)
    lines = script.before
    last = len(lines) - 1
    while not lines[last].is_program:
        last -= 1
    script.before, script.once, script.after = lines[:last], lines[last], lines[last + 1 :]
    text = lines[last].text
    if _OF_SHELL.search(text):
        return Command(TORCHRUN.name, [text], raw=frozenset({text}))
    return Command(TORCHRUN.name, shlex.split(text))


def _spelled(words: Sequence[Token], script: Script) -> tuple[list[str], frozenset[str]]:
    """Return words with the values that are known, and those that are left for the shell."""
    known = script.values
    values = [expanded(word, known) for word in words]
    left = {word.raw for word, value in zip(words, values, strict=True) if value is None}
    texts, raw = list[str](), set(left)
    for word, value in zip(words, values, strict=True):
        text = _spelling(word, value, left)
        if value in left:
            raw.add(text)
        if text or word.is_quoted:
            texts.append(text)
    return texts, frozenset(raw)


def _spelling(word: Token, value: str | None, left: Collection[str]) -> str:
    """Return a word, or its value: in quotes where without them the shell would expand it."""
    if value is None:
        return word.raw
    return shlex.quote(value) if value in left else value


def with_lines(command: Command, script: Script, nodes: int) -> Command:
    """Return a command with the other commands of the script that it needs.

    Raises:
        RefusedError: one of them would mean something else in a TrainJob.
    """
    used = [word for word in command.words if word in command.raw]
    mpi = LAUNCHERS[command.launcher].mpi
    before, after = _lines_of(script, used, runs_once=mpi or nodes == 1, mpi=mpi)
    need_readable(script, [*before, *after], used)
    words = _with_exports(command, before, script)
    before = [*_of_slurm(script, [*before, *after], used), *before]
    if not used and {line.name for line in (*before, *after)} == {"set"}:
        before, after = [], []
    return replace(command, words=words, before=before, after=after, end=_operator(script))


def _operator(script: Script) -> str:
    """Return the operator between the launch and the next command."""
    end = script.launch.end if script.launch else ""
    return end if end in {"&&", "||"} else ""


def _with_exports(command: Command, before: Sequence[Line], script: Script) -> list[str]:
    """Return the words of a call; Open MPI passes exported variables only by ``-x``.

    Bash gives no array to another program.
    """
    words = list(command.words)
    if command.launcher == OPENMPI.name:
        arrays = {name for name, is_array in script.arrays.items() if is_array}
        words[1:1] = passed(sorted(_exported(before) - arrays))
    return words


def _lines_of(
    script: Script, used: Iterable[str], *, runs_once: bool, mpi: bool
) -> tuple[list[Line], list[Line]]:
    """Return the commands before and after the launch that stay."""
    if not mpi:
        _drop_rendezvous(script)
    before = _without_reports(script, script.before, runs_once=runs_once)
    after = _without_reports(script, script.after, runs_once=runs_once)
    exported = _exported(before) - script.parts.used - (set() if mpi else RENDEZVOUS)
    kept = _needed(before, exported.union(*map(names_in, used)))
    _note_unused(script, before, kept)
    if not runs_once:
        _need_same(kept)
    return kept, after


def _needed(lines: Sequence[Line], names: set[str]) -> list[Line]:
    """Return the programs, and the assignments that something reads, in their order."""
    kept: list[Line] = []
    needed = set(names)
    for line in reversed(lines):
        if line.name or line.sets & needed:
            kept.append(line)
            needed |= line.reads
    return kept[::-1]


def _drop_rendezvous(script: Script) -> None:
    for name in sorted(RENDEZVOUS & set(script.env)):
        _, at = script.env.pop(name)
        script.remarks.dropped(at, f"variable {name}", "torchrun sets it for its ranks")


def _note_unused(script: Script, lines: Sequence[Line], kept: Sequence[Line]) -> None:
    followed = {*script.known, *script.parts.used}
    for line in lines:
        if line not in kept and not line.sets <= followed:
            is_torch = line.sets & RENDEZVOUS
            meaning = "torchrun sets it" if is_torch else "nothing in the TrainJob reads it"
            script.remarks.dropped(line.at, f"`{line.text}`", meaning)


def _without_reports(script: Script, lines: Iterable[Line], *, runs_once: bool) -> list[Line]:
    """Return commands without those that only print, where every node would run them.

    Also without those that print what only Slurm knows.

    Raises:
        RefusedError: every node would run a command that Slurm runs once.
    """
    kept = []
    slurms = script.set_by_slurm
    for line in lines:
        reads = reads_slurms(script, line, slurms)
        if line.name in REPORTS and (reads or not runs_once):
            meaning = "it prints what only Slurm knows" if reads else "every node would print it"
            script.remarks.dropped(line.at, f"`{line.text}`", meaning)
        elif runs_once or not line.is_program:
            kept.append(line)
        else:
            raise line.refused(_ON_EACH_NODE, _IN_FIRST_RANK)
    return kept


_ON_EACH_NODE = "Slurm runs it on the first node, and torchrun's pods would run it on every node"
_IN_FIRST_RANK = "Run it in the program's first rank, or as a job of its own."


def _need_same(lines: Iterable[Line]) -> None:
    for line in lines:
        if _SUBSTITUTES.search(line.text):
            raise line.refused("its value could differ from node to node")


def _of_slurm(script: Script, lines: Sequence[Line], used: Sequence[str]) -> list[Line]:
    """Return assignments of the Slurm variables that the shell reads."""
    places: dict[str, Pointer] = {}
    for at, name in all_read(script, lines, used):
        places.setdefault(name, at)
    for name in sorted(JOB_ID & set(places)):
        script.remarks.changed(places[name], f"${name}", "the TrainJob's name takes its place")
    assignments = []
    for name in sorted(set(places) - set(script.env)):
        value = NAME_OF_JOB if name in JOB_ID else script.known.get(name)
        if value is not None and name.startswith("SLURM"):
            text = f"export {name}={value}"
            assignments.append(Line(text, places[name], "", frozenset({name}), exports=True))
    return assignments
