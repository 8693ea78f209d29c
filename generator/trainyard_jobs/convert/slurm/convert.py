"""Turn a batch script of Slurm into drafts of TrainJobs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from trainyard.diagnostics import Pointer
from trainyard.model.launcher import OPENMPI
from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.model import RefusedError, variables
from trainyard_jobs.convert.options import Ranks
from trainyard_jobs.convert.remarks import Remarks
from trainyard_jobs.convert.slurm import hosts, job, paths
from trainyard_jobs.convert.slurm.command import (
    Command,
    mpi_call,
    one_program,
    torch_call,
    torch_ranks,
    with_lines,
)
from trainyard_jobs.convert.slurm.containers import image_of_options
from trainyard_jobs.convert.slurm.expand import read_by, spelled
from trainyard_jobs.convert.slurm.getopt import unreadable_script
from trainyard_jobs.convert.slurm.header import Header, read_header
from trainyard_jobs.convert.slurm.mpi import launcher_of
from trainyard_jobs.convert.slurm.script import Line, Script, set_by
from trainyard_jobs.convert.slurm.shell import WRAP_WHOLE, statements, texts
from trainyard_jobs.convert.slurm.sizes import Sizes, sizes_of, sizes_of_step
from trainyard_jobs.convert.slurm.sort import read_script
from trainyard_jobs.convert.slurm.start import Start, read_start
from trainyard_jobs.convert.slurm.variables import RANK, reason_to_drop
from trainyard_jobs.convert.torchrun import GIVEN, OLD, TorchCall, is_old, read_torchrun


def read_batch_script(file: str, text: str) -> tuple[Draft, ...]:
    """Return a draft for each TrainJob that a script becomes; several for an array.

    Args:
        file: its name for messages.
        text: of the script.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    title = f"batch script {PurePosixPath(file).name}"
    remarks = Remarks()
    try:
        if len(text) > _LONGEST:
            reason = f"it has more than {_LONGEST >> 10} KiB"
            raise unreadable_script(file, reason, WRAP_WHOLE)
        header = read_header(file, lines)
        indexes = job.array_of(header, remarks)
        members: list[int | None] = [*indexes] or [None]
        drafts = [_draft(file, lines, header, index, remarks) for index in members]
    except RefusedError as error:
        return (_refused(title, file, remarks, error),)
    except (RecursionError, ValueError) as error:
        reason = f"its quotes can't be taken apart ({error})"
        return (_refused(title, file, remarks, unreadable_script(file, reason)),)
    return tuple(drafts)


_LONGEST = 64 * 1024


def _refused(title: str, file: str, remarks: Remarks, error: RefusedError) -> Draft:
    at = Pointer(file, line=1, column=1)
    return Draft(title, at, "job-", OPENMPI.name, 1, notes=(*remarks.in_order, error.remark))


def _draft(
    file: str, lines: list[str], header: Header, index: int | None, remarks: Remarks
) -> Draft:
    """Return the draft of a script, or of one index of its array."""
    own = Remarks(dict(remarks.notes))
    sizes = sizes_of(header.options)
    name = job.job_name(header, PurePosixPath(file).stem)
    known = {**sizes.variables(), "SLURM_JOB_NAME": name}
    if index is not None:
        known |= {"SLURM_ARRAY_TASK_ID": str(index)}
        name = f"{name}-{index}"
    script = read_script(file, list(statements(file, lines, header.end)), known, own)
    if index is not None:
        script.env["SLURM_ARRAY_TASK_ID"] = (str(index), Pointer(file, line=1))
    start = read_start(script)
    sizes = sizes_of_step(header, start, sizes, own)
    script.known |= {**sizes.variables(), **script.known}
    whole = _with_step(header, start, own)
    _prepare(script, whole)
    plan = _Plan(whole, script, start, sizes, launcher_of(lines, script, start))
    return plan.draft(f"{name}-", job.deadline(whole, own))


def _with_step(header: Header, start: Start, remarks: Remarks) -> Header:
    """Return a header with the options of srun, which count before its own."""
    options = [*header.options]
    for option in start.options:
        if option.name == "job-name":
            remarks.dropped(option.at, option.shown, "it names the step, not the job")
        else:
            options.append(option)
    return replace(header, options=tuple(options))


def _prepare(script: Script, header: Header) -> None:
    """Take the folder and the variables that options give."""
    if option := header.last("chdir"):
        text = f"cd {shlex.quote(option.value)}"
        enter = Line(text, option.at, "cd", end="||")
        script.before[:0] = [enter, Line("exit", option.at, "exit")]
    for name, value, at in job.exported(header.options):
        if reason := reason_to_drop(name, value):
            script.remarks.dropped(at, f"variable {name}", reason)
        else:
            script.env[name] = (value, at)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is known of a job before its command is written."""

    header: Header
    script: Script
    start: Start
    sizes: Sizes
    mpi: str

    def draft(self, name: str, deadline: int) -> Draft:
        """Return the draft of the job."""
        script, remarks = self.script, self.script.remarks
        command, nodes, ranks = self._command()
        command = with_lines(command, script, nodes)
        job.note_options(self.header, self.sizes, remarks)
        words, args = command.split()
        image = image_of_options(self.header.options, remarks)
        image = self.start.image or image
        hosts.note_hosts(script, command)
        if image is None:
            self._note_paths(command)
        env = {variable: value for variable, (value, _) in script.env.items()}
        qos = self.header.last("qos")
        return Draft(
            f"batch script {PurePosixPath(script.file).name}",
            Pointer(script.file, line=1, column=1),
            name,
            command.launcher,
            nodes,
            image=image.name if image else "",
            gpus=self.sizes.gpus or 0,
            ranks=ranks,
            command=words,
            args=args,
            env=variables(env | command.env),
            priority=qos.value if qos else "",
            deadline=deadline,
            notes=remarks.in_order,
            places=self._places(image.at if image else None),
        )

    def _places(self, image: Pointer | None) -> Mapping[str, Pointer]:
        at = {"launcher": self.start.at, **self.sizes.places}
        at |= {"image": image} if image else {}
        named = {"deadline": "time", "name": "job-name", "priority": "qos"}
        for attribute, name in named.items():
            if option := self.header.last(name):
                at[attribute] = option.at
        return {**at, **job.resources_place(self.header)}

    def _command(self) -> tuple[Command, int, int]:
        """Return the command, and the nodes and ranks that it needs."""
        script, start, sizes = self.script, self.start, self.sizes
        if start.by == "torchrun":
            return self._torchrun()
        if start.by == "mpirun":
            ranks = Ranks(self.mpi, sizes.nodes, sizes.ranks)
            call = mpi_call(script, start.words, ranks, by_srun=False)
            return call, sizes.nodes, call.slots or sizes.ranks
        if not start.by or sizes.nodes * sizes.ranks == 1:
            return self._program()
        if self._meets_as_torch():
            return torch_ranks(script, start.words), sizes.nodes, sizes.ranks
        self._note_python()
        ranks = Ranks(self.mpi, sizes.nodes, sizes.ranks)
        return mpi_call(script, start.words, ranks, by_srun=True), sizes.nodes, sizes.ranks

    def _torchrun(self) -> tuple[Command, int, int]:
        start, sizes, known = self.start, self.sizes, self.script.values
        given = [spelled(word, known) for word in start.words]
        call = read_torchrun(given)
        self._need_under_srun()
        self._need_torchrun(call)
        self._note_torchrun(given)
        if call.ranks[0]:
            sizes.places["ranks"] = start.words[call.ranks[1]].at
        ranks = call.number_of_ranks or sizes.gpus or 0
        return torch_call(self.script, call.words_kept(start.words)), sizes.nodes, ranks

    def _need_under_srun(self) -> None:
        """Refuse a torchrun that Slurm starts on one node, or several times on each."""
        launch, at, sizes = self.script.launch, self.start.at, self.sizes
        if launch is None or "srun" not in texts(launch.words[:3]):
            if sizes.nodes > 1:
                raise RefusedError(at, "`torchrun` without srun", _FIRST_NODE)
        elif sizes.ranks > 1:
            reason = f"srun would start torchrun {sizes.ranks} times on each node"
            raise RefusedError(at, "`srun torchrun`", reason, _ONE_TASK)

    def _need_torchrun(self, call: TorchCall) -> None:
        """Refuse a call that would start other ranks."""
        start, sizes = self.start, self.sizes
        if call.unknown >= 0:
            word = start.words[call.unknown]
            raise RefusedError(word.at, f"`{word.raw}`", "torchrun has no such option")
        numbers = {call.nodes: call.number_of_nodes, call.ranks: call.number_of_ranks}
        for (text, index), number in numbers.items():
            if number is None:
                reason = "its number is not known before the script runs"
                raise RefusedError(start.words[index].at, f"`{text}`", reason)
        if call.number_of_nodes not in {0, sizes.nodes}:
            reason = f"it waits for {call.number_of_nodes} nodes, and the job has {sizes.nodes}"
            raise RefusedError(start.words[call.nodes[1]].at, "`--nnodes`", reason)

    def _note_torchrun(self, texts: list[str]) -> None:
        at, remarks = self.start.at, self.script.remarks
        remarks.dropped(at, "nodes, ranks and rendezvous of torchrun", GIVEN)
        if is_old(texts):
            meaning = "torchrun gives no argument `--local-rank`: read LOCAL_RANK"
            remarks.changed(at, f"`{OLD}`", meaning)

    def _program(self) -> tuple[Command, int, int]:
        start, sizes = self.start, self.sizes
        if sizes.nodes > 1:
            raise RefusedError(start.at, "a program without srun", _FIRST_NODE, WRAP_WHOLE)
        if sizes.ranks > 1 and not start.by:
            meaning = f"Slurm starts the program once, not {sizes.ranks} times, and so does the job"
            self.script.remarks.changed(sizes.places.get("ranks", start.at), "tasks", meaning)
        return one_program(self.script, start.words), 1, 1

    def _meets_as_torch(self) -> bool:
        """Return whether the ranks of srun meet as those of PyTorch do."""
        script, names = self.script, {"MASTER_ADDR", "MASTER_PORT"}
        given = {*script.env, *script.known, *set_by(script.before), *read_by(self.start.words)}
        return not names.isdisjoint(given)

    def _note_python(self) -> None:
        """Note that a program may read variables of Slurm, which can't be seen in its call."""
        words = self.start.words
        is_python = words[0].text.rpartition("/")[2].startswith("python")
        if is_python and RANK.isdisjoint(read_by(words)):
            meaning = (
                "mpirun starts it in place of srun: a program that reads SLURM_PROCID or "
                "SLURM_LOCALID itself (PyTorch Lightning does) must read OMPI_COMM_WORLD_RANK and "
                "OMPI_COMM_WORLD_LOCAL_RANK, or run under torchrun"
            )
            self.script.remarks.choose(words[0].at, f"`srun {words[0].raw}`", meaning)

    def _note_paths(self, command: Command) -> None:
        def note(at: Pointer, text: str) -> None:
            for path in paths.paths_in(text):
                self.script.remarks.choose(at, f"path `{path}`", paths.MEANING)

        for line in (*command.before, *command.after):
            note(line.at, line.text)
        note(self.script.started or self.start.at, " ".join(command.words))
        for value, at in self.script.env.values():
            note(at, value)


_FIRST_NODE = "Slurm starts it on the first node alone, and the others stay idle"
_ONE_TASK = "Give `--ntasks-per-node=1`: torchrun starts the ranks of its node."
