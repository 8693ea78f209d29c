"""Write the call of one launch for a runtime that gives hosts and ranks."""

from __future__ import annotations

import re
from dataclasses import dataclass

from trainyard.model.launcher import OPENMPI, TORCHRUN
from trainyard.model.quantity import whole_number
from trainyard_jobs.convert.model import RefusedError
from trainyard_jobs.convert.options import Ranks
from trainyard_jobs.convert.slurm.command import (
    Command,
    mpi_call,
    one_program,
    plain_call,
    torch_call,
    torch_ranks,
)
from trainyard_jobs.convert.slurm.expand import expanded, read_by, spelled
from trainyard_jobs.convert.slurm.script import Script, set_by
from trainyard_jobs.convert.slurm.shell import Statement, texts
from trainyard_jobs.convert.slurm.sizes import Sizes
from trainyard_jobs.convert.slurm.start import Start
from trainyard_jobs.convert.slurm.variables import RANK
from trainyard_jobs.convert.torchrun import DIALECTS, GIVEN, OLD, TorchCall, is_old, read_call


@dataclass(frozen=True, slots=True)
class Plan:
    """What is known of a launch before its call is written.

    Args:
        script: the whole.
        launch: the command; None where Slurm runs the script's programs once.
        start: how it starts its ranks.
        sizes: of the step.
        mpi: launcher of the MPI that the script uses.
    """

    script: Script
    launch: Statement | None
    start: Start
    sizes: Sizes
    mpi: str

    @property
    def is_torch(self) -> bool:
        """Return whether its ranks meet as those of PyTorch do."""
        return self.start.by in DIALECTS or (self.start.by == "srun" and self._meets_as_torch())

    @property
    def total(self) -> int:
        """Tasks of the step."""
        return self.sizes.nodes * self.sizes.ranks

    def command(self) -> tuple[Command, int, int]:
        """Return the command, and the nodes and ranks that it needs.

        Raises:
            RefusedError: it starts other ranks than those of a TrainJob.
        """
        script, start, sizes = self.script, self.start, self.sizes
        if start.by in DIALECTS:
            return self._torchrun()
        if start.by == "mpirun":
            ranks = Ranks(self.mpi, sizes.nodes, sizes.ranks)
            call = mpi_call(script, start.words, ranks, by_srun=False)
            return call, sizes.nodes, call.slots or sizes.ranks
        if not start.by or self.total == 1:
            return self._program()
        if self._meets_as_torch():
            return torch_ranks(script, start.words), sizes.nodes, sizes.ranks
        self._note_python()
        ranks = Ranks(self.mpi, sizes.nodes, sizes.ranks)
        return mpi_call(script, start.words, ranks, by_srun=True), sizes.nodes, sizes.ranks

    def beside(self, main: Plan, launcher: str) -> Command:
        """Return the call of a launch in a script whose job is that of another one.

        Raises:
            RefusedError: it starts ranks that the job does not have.
        """
        own, job = self.sizes, main.sizes
        by_srun = self.start.by == "srun"
        if by_srun and self.total == 1:
            return self._once(launcher, job.nodes)
        is_alike = (own.nodes, own.ranks, self.is_torch) == (job.nodes, job.ranks, main.is_torch)
        if is_alike:
            return self.command()[0]
        if by_srun and own.nodes == job.nodes and (call := self._of_each_node(launcher)):
            return call
        what = f"`{self.start.by}` with {own.ranks} ranks on each of {own.nodes} nodes"
        reason = f"the job has {job.ranks} on each of {job.nodes}"
        raise RefusedError(self.start.at, what, reason, "Write a TrainJob for each.")

    def _of_each_node(self, launcher: str) -> Command | None:
        """Return the call of a step with other ranks on each node than the job has, if any."""
        if launcher == TORCHRUN.name and self.sizes.ranks == 1:
            return plain_call(self.script, self.start.words, launcher)
        if launcher != OPENMPI.name:
            return None
        ranks = Ranks(self.mpi, self.sizes.nodes, self.sizes.ranks)
        call = mpi_call(self.script, self.start.words, ranks, by_srun=True)
        call.words[1:1] = ["--map-by", f"ppr:{self.sizes.ranks}:node"]
        return call

    def _once(self, launcher: str, nodes: int) -> Command:
        """Return a program that Slurm starts as one task."""
        meaning = "the pod that runs the script runs it, without a launcher"
        if launcher == TORCHRUN.name and nodes > 1:
            meaning = "the pod of every node runs it, not one alone"
        note = self.script.remarks.choose if "every" in meaning else self.script.remarks.changed
        note(self.start.at, "a step with one task", meaning)
        return plain_call(self.script, self.start.words, launcher)

    def _torchrun(self) -> tuple[Command, int, int]:
        start, sizes, known = self.start, self.sizes, self.script.values
        given = [spelled(word, known) for word in start.words]
        call = read_call(given)
        self._need_under_srun()
        self._need_torchrun(call)
        self._need_known(call)
        self._note_torchrun(given)
        if call.ranks[0]:
            sizes.places["ranks"] = start.words[call.ranks[1]].at
        ranks = call.number_of_ranks or self._share(call) or sizes.gpus or 0
        kept = call.words_kept(start.words)
        return torch_call(self.script, kept, start.by), sizes.nodes, ranks

    def _share(self, call: TorchCall) -> int:
        """Return the ranks of each node, of a call that states those of all; 0 for any."""
        total, index = call.total
        number = whole_number(total)
        if not total or (number is None and self.sizes.gpus):
            return 0
        at, nodes = self.start.words[index].at, self.sizes.nodes
        if number is None:
            raise RefusedError(at, f"`{total}`", "its number is not known before the script runs")
        if number % nodes:
            reason = f"{number} ranks on {nodes} nodes are not the same number on each"
            raise RefusedError(at, f"`{total}`", reason)
        return number // nodes

    def _need_under_srun(self) -> None:
        """Refuse a torchrun that Slurm starts on one node, or several times on each."""
        launch, at, sizes, by = self.launch, self.start.at, self.sizes, self.start.by
        if launch is None or "srun" not in texts(launch.words[:3]):
            if sizes.nodes > 1 and by != "deepspeed":
                raise RefusedError(at, f"`{by}` without srun", _FIRST_NODE)
        elif sizes.ranks > 1:
            reason = f"srun would start {by} {sizes.ranks} times on each node"
            way = f"Give `--ntasks-per-node=1`: {by} starts the ranks of its node."
            raise RefusedError(at, f"`srun {by}`", reason, way)

    def _need_torchrun(self, call: TorchCall) -> None:
        """Refuse a call that would start other ranks."""
        start, sizes = self.start, self.sizes
        if call.unknown >= 0:
            word = start.words[call.unknown]
            raise RefusedError(word.at, f"`{word.raw}`", f"{start.by} has no such option")
        numbers = {call.nodes: call.number_of_nodes, call.ranks: call.number_of_ranks}
        for (text, index), number in numbers.items():
            if number is None and not (index == call.ranks[1] and sizes.gpus):
                reason = "its number is not known before the script runs"
                raise RefusedError(start.words[index].at, f"`{text}`", reason)
        if not call.takes(sizes.nodes):
            reason = f"it waits for {call.nodes[0]} nodes, and the job has {sizes.nodes}"
            option = start.words[call.nodes[1]]
            raise RefusedError(option.at, f"`{option.raw.partition('=')[0]}`", reason)

    def _need_known(self, call: TorchCall) -> None:
        """Refuse words in place of the program that may be options, which only a run knows."""
        start = self.start
        if call.program >= len(start.words):
            return
        word = start.words[call.program]
        stated = any(text for text, _ in (call.nodes, call.ranks, call.total))
        may_be = _ARRAY.fullmatch(word.raw) or (_VARIABLE.fullmatch(word.raw) and not stated)
        if may_be and expanded(word, self.script.values) is None:
            reason = f"it may hold options of {start.by}, and is not known before the script runs"
            raise RefusedError(word.at, f"`{word.raw}`", reason, "Write them out.")

    def _note_torchrun(self, texts: list[str]) -> None:
        at, remarks, by = self.start.at, self.script.remarks, self.start.by
        remarks.dropped(
            at, f"nodes, ranks and rendezvous of {by}", GIVEN if by != "accelerate" else _GIVEN
        )
        if by == "deepspeed":
            remarks.changed(at, "`deepspeed`", _OF_DEEPSPEED)
        if is_old(texts):
            meaning = "torchrun gives no argument `--local-rank`: read LOCAL_RANK"
            remarks.changed(at, f"`{OLD}`", meaning)

    def _program(self) -> tuple[Command, int, int]:
        start, sizes = self.start, self.sizes
        if sizes.nodes > 1:
            raise RefusedError(start.at, "a program without srun", _FIRST_NODE)
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


_ARRAY = re.compile(r"""^"?\$\{\w+\[[@*]\]\}"?$""")
_VARIABLE = re.compile(r"^\$(?:\w+|\{\w+\})$")
_FIRST_NODE = "Slurm starts it on the first node alone, and the others stay idle"
_GIVEN = "Trainer gives them to each pod (PET_*), and the call takes them from there"
_OF_DEEPSPEED = (
    "torchrun starts the ranks in its place, without ssh, and gives no argument `--local_rank`: "
    "the program reads LOCAL_RANK, as `deepspeed.init_distributed` does"
)
