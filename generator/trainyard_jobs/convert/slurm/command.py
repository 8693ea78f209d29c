"""Write the command of a TrainJob: the launch alone, or a shell script around it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from trainyard.model.expansion import literal
from trainyard.model.launcher import LAUNCHERS, OPENMPI, TORCHRUN
from trainyard_jobs.convert.forwarding import passed
from trainyard_jobs.convert.launch import rewrite
from trainyard_jobs.convert.model import Remark
from trainyard_jobs.convert.options import Ranks
from trainyard_jobs.convert.slurm.around import (
    lines_of,
    meeting,
    needed,
    note_different,
    of_slurm,
)
from trainyard_jobs.convert.slurm.expand import expanded, read_by
from trainyard_jobs.convert.slurm.readable import need_readable
from trainyard_jobs.convert.slurm.script import Line, Script, exported_by, mark
from trainyard_jobs.convert.slurm.shell import Token
from trainyard_jobs.convert.slurm.variables import OF_RANK, RANK, RENDEZVOUS

_OF_SHELL = re.compile(r"[$`|<>*?&\[{~!]|^[A-Za-z_]\w*\+?=")
"""What only a shell understands."""


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
        calls: of a framed script, each where a line has its mark.
    """

    launcher: str
    words: list[str]
    before: list[Line] = field(default_factory=list)
    after: list[Line] = field(default_factory=list)
    raw: frozenset[str] = frozenset()
    end: str = ""
    env: dict[str, str] = field(default_factory=dict)
    slots: int = 0
    calls: tuple[str, ...] = ()

    def split(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return command and args of the TrainJob."""
        used = self.raw & set(self.words)
        if not (used or self.before or self.after or self.calls):
            return (literal(self.words[0]),), tuple(map(literal, self.words[1:]))
        return ("/bin/bash", "-c"), (literal(self._script()),)

    def _script(self) -> str:
        if self.calls:
            script = _joined([*self.before, *self.after])
            for number, text in enumerate(self.calls):
                script = script.replace(mark(number), text)
            return script
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


def torch_call(script: Script, words: Sequence[Token], by: str) -> Command:
    """Return the call of torchrun or accelerate; torchrun does what deepspeed does.

    Args:
        script: which has read the commands before.
        words: options that stay, program and arguments.
        by: the program that the script calls.
    """
    texts, raw = _spelled(words, script)
    if by != "accelerate":
        return Command(TORCHRUN.name, [*TORCHRUN.command, *texts], raw=raw)
    shell = frozenset(word for word in _OF_ACCELERATE if word.startswith("$"))
    call = ["accelerate", "launch", *_OF_ACCELERATE, *texts]
    return Command(TORCHRUN.name, call, raw=raw | shell)


_OF_ACCELERATE = (
    *("--num_machines", "$PET_NNODES", "--machine_rank", "$PET_NODE_RANK"),
    *("--main_process_ip", "$PET_MASTER_ADDR", "--main_process_port", "$PET_MASTER_PORT"),
    *("--num_processes", "$((PET_NNODES * PET_NPROC_PER_NODE))"),
    *("--deepspeed_multinode_launcher", "standard"),
)
"""Options with what Trainer gives a pod; `standard` starts no other nodes by ssh."""


def torch_ranks(script: Script, words: Sequence[Token]) -> Command:
    """Return a call of torchrun that gives each rank the variables that srun gave it."""
    texts, raw = _spelled(words, script)
    if script.is_framed:
        own = f'export {OF_RANK[TORCHRUN.name]}; exec "$@"'
        call = ["torchrun", "--no-python", "/bin/bash", "-c", own, "rank", *texts]
        return Command(TORCHRUN.name, call, raw=raw)
    names = (read_by(words) | exported_by(script.before) - script.parts.used) - RENDEZVOUS
    lines = needed([line for line in script.before if not line.name], names)
    script.before = [line for line in script.before if line not in lines]
    need_readable(script, lines, [])
    note_different(script, lines)
    own_lines = [f"export {OF_RANK[TORCHRUN.name]}", *(line.text for line in lines)]
    text = "\n".join([*own_lines, f"exec {_quoted(texts, raw)}", ""])
    return Command(TORCHRUN.name, ["torchrun", "--no-python", "/bin/bash", "-c", text])


def plain_call(script: Script, words: Sequence[Token], launcher: str) -> Command:
    """Return a program that runs once in each pod that runs the script."""
    texts, raw = _spelled(words, script)
    return Command(launcher, texts, raw=raw)


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
    before, after = _around(command.launcher, script, used, nodes)
    need_readable(script, [*before, *after], used)
    words = _with_exports(command, exported_by(before), script)
    before = [*of_slurm(script, [*before, *after], used), *before]
    if not used and {line.name for line in (*before, *after)} == {"set"}:
        before, after = [], []
    return replace(command, words=words, before=before, after=after, end=_operator(script))


def frame(calls: Sequence[Command], script: Script, nodes: int) -> Command:
    """Return the command of a framed script: its lines with the calls in them.

    Args:
        calls: one for each launch, with one launcher.
        script: with the marks of the launches.
        nodes: of the job.
    """
    first, used, outside = calls[0], list[str](), list[str]()
    env: dict[str, str] = {}
    for call, launch in zip(calls, script.launches, strict=True):
        own = [word for word in call.words if word in call.raw]
        used += own
        outside += [] if launch.is_in_function else own
        env |= call.env
    before, after = _around(first.launcher, script, used, nodes)
    lines = [*before, *after]
    need_readable(script, lines, outside)
    at = script.launches[0].call.at
    meets = [] if LAUNCHERS[first.launcher].mpi else meeting(lines, used, at)
    before = [*meets, *of_slurm(script, lines, used), *before]
    texts = tuple(_framed(calls, script, exported_by(lines)))
    return Command(first.launcher, [], before, after, env=env, calls=texts)


def _framed(calls: Sequence[Command], script: Script, exported: Collection[str]) -> Iterator[str]:
    """Yield each call as it stands in a line."""
    for call, launch in zip(calls, script.launches, strict=True):
        words = _with_exports(call, exported, script, own=launch.sets)
        yield f"{launch.before}{_quoted(words, call.raw)}"


def _around(
    launcher: str, script: Script, used: Sequence[str], nodes: int
) -> tuple[list[Line], list[Line]]:
    mpi = LAUNCHERS[launcher].mpi
    return lines_of(script, used, runs_once=mpi or nodes == 1, mpi=mpi)


def _operator(script: Script) -> str:
    """Return the operator between the launch and the next command."""
    end = script.launch.end if script.launch else ""
    return end if end in {"&&", "||"} else ""


def _with_exports(
    command: Command, names: Iterable[str], script: Script, own: Iterable[str] = ()
) -> list[str]:
    """Return the words of a call; Open MPI passes exported variables only by ``-x``.

    Bash gives no array to another program, but a value before the call, whatever has its name.
    """
    words = list(command.words)
    if command.launcher == OPENMPI.name and words[:1] == list(OPENMPI.command):
        arrays = {name for name, is_array in script.arrays.items() if is_array}
        words[1:1] = passed(sorted(({*names} - arrays).union(own)))
    return words
