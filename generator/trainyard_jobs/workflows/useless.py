"""Notes about the command of a job that is admitted, and that is bound to fail or to waste nodes.

A command is neither run nor known in full: each note names what is seen, and what follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.model.launcher import TORCHRUN
from trainyard.model.lookup import mapping, value_at
from trainyard.model.space import Grant, Space
from trainyard_jobs.convert import fetches, folder
from trainyard_jobs.convert.fetches import fetch_in
from trainyard_jobs.convert.folder import relative_program
from trainyard_jobs.convert.launch import program_of, starts_ranks
from trainyard_jobs.convert.scripts import calls_mpi
from trainyard_jobs.convert.shell import script_of
from trainyard_jobs.convert.torchrun import calls_in, read_torchrun, starter

Body = dict[str, Any]

_OF_TORCH = re.compile(r"\b(torchrun|torch\.distributed\.(run|launch)|accelerate|deepspeed)\b")
_OPERATORS = frozenset({"&&", "||", "|", ";", ">", ">>", "2>&1", "<"})
_ALWAYS = {
    r"(?<![\w-])(?:sudo|apt-get|apt|yum|dnf|apk)(?= )": (
        "no container runs as root: install it in the image"
    ),
    r"\bsleep +(?:infinity|inf)\b|tail -f /dev/null": (
        "the job holds its nodes and does nothing, and nobody can enter its pods"
    ),
    r"(?<![\w-])(?:kubectl|oc)(?= )": "pods have no token of a service account",
    r"(?<![\w./-])(?:srun|sbatch|scontrol)(?![\w-])": "no pod has Slurm's commands",
    r"\bjupyter[ -](?:notebook|lab)\b": "nobody reaches a pod of a job: use a workbench",
    r"(?<![\w-])ssh +[\w.@-]": "pods have no ssh client key but mpirun's, which starts the ranks",
    r"\bray +start\b": "a Ray cluster has no counterpart in a TrainJob",
    r"(?<![\w-])/root(?![\w-])": "no container runs as root: its home is another folder",
}
"""Words of a command, and what follows from them in any job."""


@dataclass(frozen=True, slots=True)
class _Run:
    """What a job runs, and on what.

    Args:
        words: command and arguments.
        script: what a shell reads of them, or they as one text.
        given: whether the job has a command of its own.
    """

    words: Sequence[str]
    script: str
    given: bool
    nodes: int
    ranks: int
    mpi: bool

    @property
    def program(self) -> str:
        """The program, without its folder."""
        return program_of(self.words[0])


def notes_of(job: Body, space: Space, grant: Grant) -> Iterator[str]:
    """Yield what in the command of a job is bound to fail or to waste its nodes.

    Args:
        job: a TrainJob that can be read.
        space: its namespace.
        grant: of its runtime.
    """
    run = _run(job, grant)
    if not run.words:
        yield from _without_words(grant)
        return
    for rule in (_form, _shell, _launcher, _folder, _torch_numbers, _mpi_numbers):
        yield from rule(run)
    for pattern, meaning in _ALWAYS.items():
        if found := re.search(pattern, run.script):
            yield f"`{found[0].strip()}`: {meaning}"
    if fetched := fetch_in(run.words, space.cluster):
        yield f"`{fetched}`: {fetches.MEANING}"


def _run(job: Body, grant: Grant) -> _Run:
    trainer = mapping(job, "spec", "trainer")
    command, args = _texts(trainer.get("command")), _texts(trainer.get("args"))
    words = [*command, *args]
    at = script_of(words)
    launch = grant.launch
    ranks = value_at(trainer, "numProcPerNode")
    nodes = value_at(trainer, "numNodes")
    return _Run(
        words,
        words[at] if at else " ".join(words),
        bool(command),
        nodes if isinstance(nodes, int) else launch.runtime.smallest_job,
        ranks if isinstance(ranks, int) else launch.ranks,
        launch.runtime.launcher.mpi,
    )


def _texts(value: object) -> list[str]:
    return [str(word) for word in value] if isinstance(value, list) else []


def _without_words(grant: Grant) -> Iterator[str]:
    if grant.launch.runtime.launcher.mpi:
        yield "the job gives neither command nor args: the runtime has no program to start"
    elif grant.launch.runtime.launcher == TORCHRUN:
        yield "the job gives neither command nor args: torchrun has no script, and ends with 64"


def _form(run: _Run) -> Iterator[str]:
    """Yield words that a shell would have read in another way."""
    first = run.words[0]
    if not first.strip():
        yield "the first word is empty: no program has that name"
    elif run.given and " " in first:
        words = ", ".join(first.split())
        yield f"`{first}` is one word: no program has that name; write [{words}]"
    if run.given and first == "cd":
        yield "`cd` is not a program: write [bash, -c, cd FOLDER && PROGRAM]"


def _shell(run: _Run) -> Iterator[str]:
    """Yield words that only a shell reads, and words that it does not read."""
    at = script_of(list(run.words))
    if not at:
        operators = [word for word in run.words if word in _OPERATORS]
        for word in operators[:1]:
            yield f"`{word}` is a word of the program: only a shell reads it, as in [bash, -c]"
    elif at + 1 < len(run.words) and not re.search(r" |\.sh$", run.script):
        yield f"`{run.script}` alone is the script of the shell, and the words after it are not"


def _launcher(run: _Run) -> Iterator[str]:
    """Yield a launcher of another runtime, or none where one is needed."""
    if run.mpi:
        if run.given and not _calls_mpi(run):
            yield from _without_mpirun(run)
    elif _calls_mpi(run):
        yield "mpirun on a runtime of torchrun: it finds no hosts, and each pod starts its own"
    elif run.given and not _OF_TORCH.search(run.script) and run.nodes * run.ranks > 1:
        yield (
            f"nothing calls torchrun: the pod of each of {run.nodes} nodes runs "
            f"`{run.program}` once, and no rank has RANK or MASTER_ADDR"
        )


def _folder(run: _Run) -> Iterator[str]:
    """Yield a script that is looked up in the folder in which a job without MPI starts."""
    own = [] if run.given else ["torchrun"]
    if not run.mpi and (script := relative_program([*own, *run.words])):
        yield f"`{script}`: {folder.MEANING}"


def _without_mpirun(run: _Run) -> Iterator[str]:
    """Yield what becomes of a command that does not call mpirun."""
    total = run.nodes * run.ranks
    if torch := _OF_TORCH.search(run.script):
        yield f"`{torch[0]}` on a runtime of MPI: only the launcher's pod runs it"
    elif total > 1:
        yield (
            f"nothing calls mpirun: `{run.program}` runs once, on the launcher, and {total - 1} of "
            f"{total} ranks are idle"
        )


def _calls_mpi(run: _Run) -> bool:
    own = not run.given and run.mpi
    return own or starts_ranks(run.words[0]) or calls_mpi(run.script)


def _torch_numbers(run: _Run) -> Iterator[str]:
    """Yield numbers of torchrun that are not those of the job."""
    words = _call(run)
    if starter(words) != "torchrun":
        return
    call = read_torchrun(words)
    if "--standalone" in words and run.nodes > 1:
        yield f"`--standalone`: each of {run.nodes} nodes trains a model of its own"
    if not call.takes(run.nodes):
        yield f"`--nnodes {call.nodes[0]}`: the job has {run.nodes}; leave it out"
    ranks = call.number_of_ranks if call.ranks[0] else 0
    if ranks not in {None, 0, run.ranks}:
        yield f"`--nproc-per-node {ranks}`: the job has {run.ranks} on each node; leave it out"


def _call(run: _Run) -> list[str]:
    """Return the call of torchrun, of a script its line; of args alone those of the runtime."""
    if not run.given and not run.mpi:
        return ["torchrun", *run.words]
    if not script_of(list(run.words)):
        return list(run.words)
    calls = calls_in(run.script)
    return next((words for words in calls if starter(words) == "torchrun"), [])


def _mpi_numbers(run: _Run) -> Iterator[str]:
    """Yield numbers of mpirun that are not those of the job."""
    total = run.nodes * run.ranks
    found = re.search(r"(?<!\S)(-np|-n|--n|--np)[ =](\d+)(?!\S)", run.script)
    if found and _calls_mpi(run) and run.mpi and int(found[2]) < total:
        yield f"`{found[0]}`: the job has {total} ranks, of which it starts {found[2]}"
    own = re.search(r"(?<!\S)(-H|--host|-hostfile|--hostfile)[ =]\S+", run.script)
    if run.mpi and own and "/etc/mpi/hostfile" not in own[0]:
        yield f"`{own[0]}`: the pods have other names, which /etc/mpi/hostfile has"
