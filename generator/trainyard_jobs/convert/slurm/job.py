"""Turn the header of a script into the fields of a TrainJob that are not its command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.names import plain
from trainyard_jobs.convert.remarks import Remarks
from trainyard_jobs.convert.slurm import values
from trainyard_jobs.convert.slurm.getopt import Option
from trainyard_jobs.convert.slurm.header import Header
from trainyard_jobs.convert.slurm.options import note_dropped
from trainyard_jobs.convert.slurm.sizes import Sizes

_RESOURCES = (
    *("cpus-per-task", "cpus-per-gpu", "mem", "mem-per-cpu", "mem-per-gpu"),
    "tres-per-task",
)


def job_name(header: Header, stem: str) -> str:
    """Return the begin of the TrainJob's name, after the job's name or that of its file."""
    option = header.last("job-name")
    return plain(option.value if option else stem) or "job"


def deadline(header: Header, remarks: Remarks) -> int:
    """Return the seconds that a job may run; 0 for any time.

    Raises:
        RefusedError: it is not a time of Slurm.
    """
    option = header.last("time")
    seconds = option.read(values.seconds) if option else None
    if option and seconds:
        meaning = (
            f"Kueue ends the job after {seconds} s of running, those before an eviction included; "
            "Slurm begins again with each requeue"
        )
        remarks.changed(option.at, option.shown, meaning)
    return seconds or 0


def array_of(header: Header, remarks: Remarks) -> list[int]:
    """Return the indexes of a job array; none for a job without an array.

    Raises:
        RefusedError: it is not an array of Slurm, or too large.
    """
    option = header.last("array")
    if option is None:
        return []
    way = "Create the TrainJobs in a loop, each with SLURM_ARRAY_TASK_ID in its environment."
    indexes, limit = option.read(values.indexes, way)
    remarks.changed(option.at, option.shown, "each index is a TrainJob of its own")
    if limit:
        meaning = "nothing limits how many run at once but the quota of the queue"
        remarks.dropped(option.at, f"`%{limit}` of the array", meaning)
    return indexes


def note_options(header: Header, sizes: Sizes, remarks: Remarks) -> None:
    """Note the options whose counterpart is a choice, or that have none."""
    for option in header.options:
        note_dropped(option, remarks)
    _note_counts(header, sizes, remarks)
    for name, meaning in _CHOICES.items():
        if chosen := header.last(name):
            remarks.choose(chosen.at, chosen.shown, meaning)
    for name in ("partition", "account"):
        if queue := header.last(name):
            meaning = "a team has one queue for each class of node, and its runtime names it"
            remarks.dropped(queue.at, queue.shown, meaning)
    _note_rest(header, remarks)


def _note_rest(header: Header, remarks: Remarks) -> None:
    for at in header.late:
        remarks.dropped(at, "#SBATCH after the first command", "Slurm ignores it too")
    if gres := header.last("gres"):
        for other in values.other_gres(gres.value):
            remarks.dropped(gres.at, f"gres {other}", "a runtime requests what its nodes have")
    if export := header.last("export"):
        _note_export(export, remarks)


_CHOICES = {
    "constraint": "choose a runtime on such nodes; Kueue places its pods",
    "qos": "choose one of the team's priority classes",
}


def _note_counts(header: Header, sizes: Sizes, remarks: Remarks) -> None:
    if sizes.most_nodes > sizes.nodes:
        what = f"{sizes.nodes} to {sizes.most_nodes} nodes"
        meaning = f"a TrainJob has a fixed number of nodes: {sizes.nodes}, the least"
        remarks.changed(sizes.places["nodes"], what, meaning)
    if sizes.gpu_type:
        meaning = "choose a runtime on nodes with such GPUs"
        remarks.choose(sizes.places["gpus"], f"GPU type {sizes.gpu_type}", meaning)
    for option in header.options:
        _note_other_gpus(option, sizes, remarks)
        if option.name in _RESOURCES:
            meaning = "a pod has the resources of its runtime, and asks for none of its own"
            remarks.changed(option.at, option.shown, meaning)


def _note_other_gpus(option: Option, sizes: Sizes, remarks: Remarks) -> None:
    """Note an option about GPUs that another one contradicts."""
    try:
        count = _gpus_of_a_node(option, sizes)
    except ValueError as error:
        remarks.dropped(option.at, option.shown, f"{error}; another option says how many GPUs")
        return
    if count not in {0, sizes.gpus}:
        meaning = f"another option counts: each node of the job has {sizes.gpus} GPUs"
        remarks.changed(option.at, option.shown, meaning)


def _gpus_of_a_node(option: Option, sizes: Sizes) -> int:
    """Return the GPUs of a node that an option asks for; 0 if it asks for none.

    Raises:
        ValueError: it has a value of an unknown form. Nothing has read it, since another option
            about GPUs goes first.
    """
    per_node = {"gpus-per-node": 1, "gpus": sizes.nodes, "gpus-per-task": 1 / sizes.ranks}
    if option.name == "gres":
        return values.gres_gpus(option.value)[0]
    if option.name in per_node:
        return int(values.count_of_type(option.value)[0] / per_node[option.name])
    return 0


def _note_export(option: Option, remarks: Remarks) -> None:
    for word in option.value.split(","):
        if word.upper() == "ALL":
            meaning = "a pod has the environment of its image, not that of the person who submits"
            remarks.dropped(option.at, option.shown, meaning)
        elif "=" not in word:
            meaning = f"write {word} into spec.trainer.env"
            remarks.dropped(option.at, option.shown, meaning)


def exported(options: Iterable[Option]) -> Iterator[tuple[str, str, Pointer]]:
    """Yield the variables that options set, with their places."""
    for option in options:
        if option.name == "export":
            for word in option.value.split(","):
                name, equals, value = word.partition("=")
                if equals and value:
                    yield name, value, option.at


def places(header: Header) -> Mapping[str, Pointer]:
    """Return where a header says what a job has, and the first resource that it asks for."""
    found: dict[str, Pointer] = {}
    for attribute, name in {"deadline": "time", "name": "job-name", "priority": "qos"}.items():
        if option := header.last(name):
            found[attribute] = option.at
    for option in header.options:
        if option.name in _RESOURCES:
            found.setdefault("resources", option.at)
    return found
