"""How many nodes, ranks and GPUs a script asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.model import RefusedError
from trainyard_jobs.convert.remarks import Remarks
from trainyard_jobs.convert.slurm import values
from trainyard_jobs.convert.slurm.getopt import Option, Value
from trainyard_jobs.convert.slurm.header import Header
from trainyard_jobs.convert.slurm.start import Start

_DIVIDE = "Give `--nodes` and `--ntasks-per-node`."


@dataclass(frozen=True, slots=True)
class Sizes:
    """What each node of a job has.

    Args:
        nodes: of the job.
        most_nodes: that Slurm may give it.
        ranks: tasks of each node.
        gpus: of each node; None when the script asks for none.
        gpu_type: that it names, e.g. ``h100``; empty for any.
        cpus: of each task; 0 when not stated.
        places: of what the script says, by the name of the attribute.
    """

    nodes: int
    most_nodes: int
    ranks: int
    gpus: int | None
    gpu_type: str
    cpus: int
    places: dict[str, Pointer]

    def variables(self) -> dict[str, str]:
        """Return the variables that Slurm would set, which are the same on every node."""
        tasks = self.nodes * self.ranks
        gpus = self.gpus or 0
        numbers = {
            "SLURM_NNODES": self.nodes,
            "SLURM_JOB_NUM_NODES": self.nodes,
            "SLURM_NTASKS": tasks,
            "SLURM_NPROCS": tasks,
            "SLURM_NTASKS_PER_NODE": self.ranks,
            "SLURM_TASKS_PER_NODE": self.ranks,
            "SLURM_CPUS_PER_TASK": self.cpus,
            "SLURM_GPUS_ON_NODE": gpus,
            "SLURM_GPUS_PER_NODE": gpus,
            "SLURM_GPUS": gpus * self.nodes,
        }
        # Slurm leaves out a variable whose option is not there.
        return {name: str(value or "") for name, value in numbers.items()}


class _Options:
    """The options of a job: those of its launch count before those of its header."""

    def __init__(self, options: Iterable[Option]) -> None:
        self._last = {option.name: option for option in options}

    def get(self, name: str) -> Option | None:
        return self._last.get(name)

    def read(self, name: str, parse: Callable[[str], Value]) -> Value | None:
        """Return the value of an option; None without it."""
        option = self.get(name)
        return option.read(parse) if option else None

    def refused(self, name: str, reason: str, way: str = _DIVIDE) -> RefusedError:
        """Return that the value of an option can't be followed."""
        return self._last[name].refused(reason, way)

    def places(self, **names: tuple[str, ...]) -> dict[str, Pointer]:
        """Return the place of the first option that is there, by attribute."""
        places: dict[str, Pointer] = {}
        for attribute, options in names.items():
            for name in options:
                if name in self._last:
                    places.setdefault(attribute, self._last[name].at)
        return places


def sizes_of(options: Iterable[Option]) -> Sizes:
    """Return the sizes that options ask for; a later option replaces an earlier one.

    Raises:
        RefusedError: a value is none of Slurm's, or the tasks can't be divided among the nodes.
    """
    asked = _Options(options)
    per_node = asked.read("ntasks-per-node", values.number)
    tasks = asked.read("ntasks", values.number)
    stated = asked.read("nodes", values.node_range)
    gpus = _gpus_per_node(asked)
    least, most = stated or _nodes(asked, tasks, per_node, gpus[0])
    ranks = _ranks(asked, least, tasks, per_node)
    count, kind = _all_gpus(asked, gpus, least, ranks)
    if not (tasks or per_node):
        ranks = _ranks_by_gpu(asked, count) or ranks
    return Sizes(
        least,
        most,
        ranks,
        count,
        kind,
        asked.read("cpus-per-task", values.number) or 0,
        asked.places(
            nodes=("nodes", "ntasks"),
            ranks=("ntasks-per-node", "ntasks", "ntasks-per-gpu"),
            gpus=("gpus-per-node", "gres", "gpus", "gpus-per-task", "tres-per-task"),
        ),
    )


def _gpus_per_node(asked: _Options) -> tuple[int | None, str]:
    """Return the GPUs of a node that are stated as such."""
    stated = asked.read("gpus-per-node", values.count_of_type)
    stated = stated or asked.read("gres", values.gres_gpus)
    return stated if stated and stated[0] else (None, "")


def _gpus_per_task(asked: _Options) -> tuple[int, str] | None:
    """Return the GPUs of a task that are stated as such."""
    trackable = asked.read("tres-per-task", values.gres_gpus)
    own = trackable if trackable and trackable[0] else None
    return asked.read("gpus-per-task", values.count_of_type) or own


def _nodes(
    asked: _Options, tasks: int | None, per_node: int | None, gpus: int | None
) -> tuple[int, int]:
    """Return the nodes of a job that states none."""
    if tasks is None or tasks == 1:
        return 1, 1
    per_task = _gpus_per_task(asked)
    fits = per_node or (gpus // max(per_task[0] if per_task else 1, 1) if gpus else 0)
    if not fits:
        raise asked.refused("ntasks", "Slurm decides how many nodes these tasks get")
    nodes = ceil(tasks / fits)
    return nodes, nodes


def _ranks(asked: _Options, nodes: int, tasks: int | None, per_node: int | None) -> int:
    """Return the tasks of each node; ``--ntasks`` counts before ``--ntasks-per-node``."""
    if tasks is None:
        return per_node or 1
    if tasks % nodes:
        reason = f"{tasks} tasks on {nodes} nodes are not the same number on each"
        raise asked.refused("ntasks", reason)
    return tasks // nodes


def _ranks_by_gpu(asked: _Options, gpus: int | None) -> int:
    per_gpu = asked.read("ntasks-per-gpu", values.number)
    return per_gpu * gpus if per_gpu and gpus else 0


def _all_gpus(
    asked: _Options, stated: tuple[int | None, str], nodes: int, ranks: int
) -> tuple[int | None, str]:
    """Return the GPUs of each node, also from those of the job or of each task."""
    if stated[0] is not None:
        return stated
    if per_task := _gpus_per_task(asked):
        return per_task[0] * ranks, per_task[1]
    total = asked.read("gpus", values.count_of_type)
    if total is None:
        return None, ""
    if total[0] % nodes:
        reason = f"{total[0]} GPUs on {nodes} nodes are not the same number on each"
        raise asked.refused("gpus", reason, "Give `--gpus-per-node`.")
    return total[0] // nodes, total[1]


def sizes_of_step(header: Header, start: Start, sizes: Sizes, remarks: Remarks) -> Sizes:
    """Return the sizes with what srun asks for, which counts before the header."""
    if not start.options:
        return sizes
    asked = sizes_of([*_header_of_step(header, start, sizes), *start.options])
    if asked.nodes < sizes.nodes:
        meaning = f"the job has the {asked.nodes} nodes that srun uses, not {sizes.nodes}"
        remarks.changed(asked.places["nodes"], "the number of nodes", meaning)
    return asked


def _header_of_step(header: Header, start: Start, sizes: Sizes) -> list[Option]:
    """Return the options of the header that count for srun: its tasks, if it states none."""
    asked = _Options(start.options)
    if not asked.get("ntasks-per-node") or asked.get("ntasks"):
        return [*header.options]
    rest = [option for option in header.options if option.name != "ntasks"]
    return [*rest, Option("nodes", str(sizes.nodes), sizes.places.get("nodes", start.at))]
