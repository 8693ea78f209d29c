"""Turn a batch script of Slurm into drafts of TrainJobs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from trainyard.diagnostics import Pointer
from trainyard.model.launcher import OPENMPI
from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.model import RefusedError, variables
from trainyard_jobs.convert.remarks import Remarks
from trainyard_jobs.convert.slurm import hosts, job, paths
from trainyard_jobs.convert.slurm.command import Command, frame, with_lines
from trainyard_jobs.convert.slurm.containers import Image, image_of_options
from trainyard_jobs.convert.slurm.getopt import unreadable_script
from trainyard_jobs.convert.slurm.header import Header, read_header
from trainyard_jobs.convert.slurm.mpi import launcher_of
from trainyard_jobs.convert.slurm.part import part_of_job
from trainyard_jobs.convert.slurm.plan import Plan
from trainyard_jobs.convert.slurm.reader import statements
from trainyard_jobs.convert.slurm.script import Line, Script
from trainyard_jobs.convert.slurm.shell import Statement
from trainyard_jobs.convert.slurm.sizes import Sizes, sizes_of, sizes_of_step
from trainyard_jobs.convert.slurm.sort import read_script
from trainyard_jobs.convert.slurm.start import Start, read_start
from trainyard_jobs.convert.slurm.variables import reason_to_drop


def read_batch_script(file: str, text: str) -> tuple[Draft, ...]:
    """Return a draft for each TrainJob that a script becomes; several for an array.

    A script whose commands can't all be read gives a part of its job: what its header asks for.

    Args:
        file: its name for messages.
        text: of the script.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    remarks = Remarks()
    try:
        header = read_header(file, lines)
        indexes = job.array_of(header, remarks)
        sizes = sizes_of(header.options)
    except RefusedError as error:
        at = Pointer(file, line=1, column=1)
        notes = (*remarks.in_order, error.remark)
        title = f"batch script {PurePosixPath(file).name}"
        return (Draft(title, at, "job-", OPENMPI.name, 1, notes=notes),)
    members: list[int | None] = [*indexes] or [None]
    source = Batch(file, lines, header, sizes)
    return tuple(_draft(source, index, Remarks(dict(remarks.notes))) for index in members)


_LONGEST = 64 * 1024


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch script and what its header asks for."""

    file: str
    lines: Sequence[str]
    header: Header
    sizes: Sizes

    def name(self, index: int | None) -> str:
        """Return the job's name, of an array with the index of its member."""
        own = job.job_name(self.header, PurePosixPath(self.file).stem)
        return own if index is None else f"{own}-{index}"

    def commands(self, remarks: Remarks) -> list[Statement]:
        """Return the commands of the script; none where they can't be read, which is noted."""
        if sum(map(len, self.lines)) > _LONGEST:
            reason = f"it has more than {_LONGEST >> 10} KiB"
            remarks.add(unreadable_script(self.file, reason).remark)
            return []
        found: list[Statement] = []
        with remarks.collected():
            found += statements(self.file, self.lines, self.header.end)
        return found


def _draft(batch: Batch, index: int | None, remarks: Remarks) -> Draft:
    """Return the draft of a script, or of one index of its array."""
    script = _read(batch, index, remarks)
    deadline = 0
    with remarks.collected():
        deadline = job.deadline(batch.header, remarks)
    with remarks.collected():
        job_of = _job(batch, script)
        draft = job_of.draft(f"{batch.name(index)}-") if not remarks.refuses else None
        if draft and not remarks.refuses:
            return draft
    return part_of_job(
        batch.lines, batch.header, script, batch.sizes, (batch.name(index), deadline)
    )


def _read(batch: Batch, index: int | None, remarks: Remarks) -> Script:
    """Return the commands of a script with what Slurm would set."""
    known = {**batch.sizes.variables(), "SLURM_JOB_NAME": batch.name(None)}
    if index is not None:
        known |= {"SLURM_ARRAY_TASK_ID": str(index)}
    script = read_script(batch.file, batch.commands(remarks), known, remarks)
    if index is not None:
        script.env["SLURM_ARRAY_TASK_ID"] = (str(index), Pointer(batch.file, line=1))
    return script


def _job(batch: Batch, script: Script) -> _Job:
    """Return what a script is, from its launches; the largest one is what the job is for.

    Raises:
        RefusedError: a launch has no counterpart.
    """
    calls: list[Statement | None] = [launch.call for launch in script.launches]
    plans = []
    for call in calls or [script.launch]:
        with script.remarks.collected():
            plans.append(_plan(batch, script, call))
    if script.remarks.refuses:
        return _Job(batch.header, script, (), 0)
    main = max(plans, key=lambda plan: (plan.is_torch, plan.total))
    sizes_of_step(batch.header, main.start, batch.sizes, script.remarks)
    header = _with_step(batch.header, main.start, script.remarks)
    script.known |= {**main.sizes.variables(), **script.known}
    _prepare(script, header)
    return _Job(header, script, tuple(plans), plans.index(main))


def _plan(batch: Batch, script: Script, call: Statement | None) -> Plan:
    start = read_start(script, call)
    sizes = sizes_of_step(batch.header, start, batch.sizes, Remarks())
    return Plan(script, call, start, sizes, launcher_of(batch.lines, script, start))


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
class _Job:
    """What is known of a job before its command is written.

    Args:
        plans: of its launches.
        main: index of the one that the job is for.
    """

    header: Header
    script: Script
    plans: tuple[Plan, ...]
    main: int

    def draft(self, name: str) -> Draft:
        """Return the draft of the job.

        Raises:
            RefusedError: a command would mean something else in a TrainJob.
        """
        script, remarks, plan = self.script, self.script.remarks, self.plans[self.main]
        command, nodes, ranks = self._command(plan)
        job.note_options(self.header, plan.sizes, remarks)
        words, args = command.split()
        image = plan.start.image or image_of_options(self.header.options, remarks)
        hosts.note_hosts(script, command)
        if image is None:
            self._note_paths(command, plan)
        env = {variable: value for variable, (value, _) in script.env.items()}
        qos = self.header.last("qos")
        return Draft(
            f"batch script {PurePosixPath(script.file).name}",
            Pointer(script.file, line=1, column=1),
            name,
            command.launcher,
            nodes,
            image=image.name if image else "",
            gpus=plan.sizes.gpus or 0,
            ranks=ranks,
            command=words,
            args=args,
            env=variables(env | command.env),
            priority=qos.value if qos else "",
            deadline=job.deadline(self.header, remarks),
            notes=remarks.in_order,
            places=self._places(image, plan),
        )

    def _command(self, plan: Plan) -> tuple[Command, int, int]:
        """Return the command with the lines around it, and the nodes and ranks that it needs."""
        own, nodes, ranks = plan.command()
        if not self.script.is_framed:
            return with_lines(own, self.script, nodes), nodes, ranks
        calls = [own if each is plan else each.beside(plan, own.launcher) for each in self.plans]
        return frame(calls, self.script, nodes), nodes, ranks

    def _places(self, image: Image | None, plan: Plan) -> Mapping[str, Pointer]:
        at = {"launcher": plan.start.at, **plan.sizes.places}
        at |= {"image": image.at} if image else {}
        return {**at, **job.places(self.header)}

    def _note_paths(self, command: Command, plan: Plan) -> None:
        def note(at: Pointer, text: str) -> None:
            for path in paths.paths_in(text):
                self.script.remarks.choose(at, f"path `{path}`", paths.MEANING)

        for line in (*command.before, *command.after):
            note(line.at, line.text)
        started = self.script.started or plan.start.at
        note(started, " ".join([*command.words, *command.calls]))
        for value, at in self.script.env.values():
            note(at, value)
