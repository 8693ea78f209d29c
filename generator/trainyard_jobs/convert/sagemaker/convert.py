"""Turn a training job of SageMaker into the draft of a TrainJob."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model.expansion import literal
from trainyard.model.launcher import OPENMPI, TORCHRUN
from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.launch import rewrite, starts_ranks
from trainyard_jobs.convert.model import RefusedError, Remark, variables
from trainyard_jobs.convert.names import plain
from trainyard_jobs.convert.options import Ranks, variable
from trainyard_jobs.convert.sagemaker.instances import Instance, instance_of
from trainyard_jobs.convert.sagemaker.needs import INPUT, notes_of
from trainyard_jobs.convert.sagemaker.request import (
    Distribution,
    Request,
    whole,
)
from trainyard_jobs.convert.scripts import calls_mpi
from trainyard_jobs.convert.shell import one_call
from trainyard_jobs.convert.torchrun import GIVEN, is_torchrun, read_torchrun

_SHOWN = 40
"""Characters of a command that a note quotes."""
_STAMP = re.compile(r"-\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d(-\d{3})?\Z")


def draft_of(request: Request) -> Draft:
    """Return the draft of a training job; one that refuses it names why."""
    try:
        if request.refusal:
            raise request.refusal
        return _draft(request)
    except RefusedError as error:
        notes = (*request.notes.notes, error.remark)
        return Draft(request.title, request.at, "job-", OPENMPI.name, 1, notes=notes)


@dataclass(frozen=True, slots=True)
class _Call:
    """What the pods run."""

    launcher: str
    ranks: int
    command: tuple[str, ...]
    args: tuple[str, ...]


def _draft(request: Request) -> Draft:
    if "algorithm" in request.fields:
        meaning = "an algorithm of SageMaker has no image outside of AWS"
        raise RefusedError(request.place("algorithm"), "AlgorithmName", meaning)
    nodes = _nodes(request)
    instance = _instance(request)
    call = _call(request, nodes, instance.gpus or 0)
    request.notes.add(*notes_of(request, [*call.command, *call.args]))
    environment, deadline = _environment(request), _deadline(request)
    return Draft(
        request.title,
        request.at,
        f"{_name(request)}-",
        call.launcher,
        nodes,
        image=str(request.get("image", "")),
        gpus=instance.gpus,
        ranks=call.ranks,
        command=tuple(map(literal, call.command)),
        args=tuple(map(literal, call.args)),
        env=variables(environment),
        deadline=deadline,
        restarts=_restarts(request),
        notes=tuple(request.notes.notes),
        places=_places(request),
    )


def _places(request: Request) -> dict[str, Pointer]:
    named = {
        "deadline": "max_run",
        "gpus": "instance_type",
        "image": "image",
        "name": "name",
        "nodes": "instances",
        "restarts": "retries",
    }
    places = {key: request.place(name) for key, name in named.items() if name in request.fields}
    if request.distribution:
        places |= {"launcher": request.distribution.at, "ranks": request.distribution.at}
    return places


def _nodes(request: Request) -> int:
    if "instances" not in request.fields:
        return 1
    return whole(request.fields["instances"], "instance count")


def _name(request: Request) -> str:
    name = _STAMP.sub("", str(request.get("name") or request.get("program") or "job"))
    return plain(name.lower().removesuffix(".py")) or "job"


def _instance(request: Request) -> Instance:
    name, at = str(request.get("instance_type", "")), request.place("instance_type")
    try:
        instance = instance_of(name)
    except ValueError as error:
        raise RefusedError(at, name, str(error)) from error
    if instance.gpus is None:
        meaning = "its GPUs are not known: choose a runtime on nodes with as many"
        request.notes.choose(at, f"instance type {name or 'of the job'}", meaning)
    elif instance.gpus:
        meaning = f"{instance.gpus} {instance.product} each: choose a runtime on such nodes"
        request.notes.choose(at, f"instance type {name}", meaning)
    return instance


def _deadline(request: Request) -> int:
    if "max_run" not in request.fields:
        return 0
    seconds = whole(request.fields["max_run"], "maximum run time")
    meaning = (
        f"Kueue ends the job after {seconds} s of running, those before an eviction included; "
        "SageMaker counts each attempt"
    )
    request.notes.changed(request.place("max_run"), "maximum run time", meaning)
    return seconds


def _restarts(request: Request) -> int:
    retries = request.fields.get("retries")
    return whole(retries, "number of attempts") if retries else 0


def _texts(request: Request, name: str) -> list[str]:
    """Return a list of words.

    Raises:
        RefusedError: the field is none.
    """
    texts = request.get(name, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise RefusedError(request.place(name), name, "it is not a list of words")
    return texts


def _call(request: Request, nodes: int, gpus: int) -> _Call:
    """Return what the pods run, from the entrypoint or from the script and its distribution."""
    words = _words(request)
    spread = request.distribution
    if spread is None or "entrypoint" in request.fields:
        return _each_node(request, words, nodes, gpus)
    if spread.kind == "torch":
        return _Call(TORCHRUN.name, spread.ranks or gpus, TORCHRUN.command, tuple(words[1:]))
    return _mpi(request, spread, words, Ranks(OPENMPI.name, nodes, spread.ranks or gpus or 1))


def _mpi(request: Request, spread: Distribution, words: list[str], ranks: Ranks) -> _Call:
    """Return the call of mpirun with the options that the job adds."""
    program = words
    if words[0] == "python":
        program = ["python", "-m", "mpi4py", *words[1:]]
        meaning = (
            "SageMaker starts a script with `-m mpi4py`, so that an exception of one rank ends "
            "all: the image must have mpi4py"
        )
        request.notes.choose(request.place("program"), "mpi4py", meaning)
    call = rewrite(["mpirun", *_of_debug(spread.options), *program], ranks)
    for _, kind, what, meaning in call.remarks:
        request.notes.add(Remark(spread.at, kind, what, meaning))
    return _Call(OPENMPI.name, call.slots or ranks.slots, call.command, call.args)


def _of_debug(options: Sequence[str]) -> list[str]:
    """Return options with ``-x NCCL_DEBUG=V`` in place of the ``--NCCL_DEBUG V`` of SageMaker."""
    text = shlex.join(options) if any(" " in option for option in options) else " ".join(options)
    try:
        return shlex.split(re.sub(r"--NCCL_DEBUG[ =](\w+)", r"-x NCCL_DEBUG=\1", text))
    except ValueError:  # a quote that is not closed is a character
        return list(options)


def _each_node(request: Request, words: list[str], nodes: int, gpus: int) -> _Call:
    """Return a command that SageMaker starts once on each instance."""
    if starts_ranks(words[0]) or (words[1:2] == ["-c"] and calls_mpi(words[-1])):
        meaning = (
            "each instance runs it, and SageMaker's own list of hosts decides which one starts the "
            "ranks: give the program of the ranks and `distribution` with mpi"
        )
        at = request.place("entrypoint" if "entrypoint" in request.fields else "line")
        raise RefusedError(at, f"`{shlex.join(words)[:_SHOWN]}`", meaning)
    if is_torchrun(words):
        return _torchrun(request, words, nodes, gpus)
    if nodes > 1:
        meaning = (
            "each node runs it once, as each instance did; PET_NODE_RANK, PET_NNODES and "
            "PET_MASTER_ADDR take the place of SM_CURRENT_HOST and SM_HOSTS"
        )
        at = request.place("entrypoint" if "entrypoint" in request.fields else "program")
        request.notes.changed(at, f"`{shlex.join(words[:2])}`", meaning)
    return _Call(TORCHRUN.name, 1, (words[0],), tuple(words[1:]))


def _torchrun(request: Request, words: list[str], nodes: int, gpus: int) -> _Call:
    """Return a call of torchrun without what Trainer sets."""
    at = request.place("entrypoint" if "entrypoint" in request.fields else "line")
    call = read_torchrun(words)
    if call.unknown >= 0:
        raise RefusedError(at, f"`{words[call.unknown]}`", "torchrun has no such option")
    if call.number_of_ranks is None or call.number_of_nodes not in {0, 1, None, nodes}:
        raise RefusedError(at, "`torchrun`", "its nodes and ranks are not those of the job")
    request.notes.dropped(at, "nodes, ranks and rendezvous of torchrun", GIVEN)
    kept = tuple(call.words_kept(words))
    return _Call(TORCHRUN.name, call.number_of_ranks or gpus, TORCHRUN.command, kept)


def _words(request: Request) -> list[str]:
    """Return the program of a job and its arguments."""
    if entry := _texts(request, "entrypoint"):
        return [*entry, *_texts(request, "arguments")]
    if line := request.get("line"):
        return _words_of_line(str(line))
    program = str(request.get("program", ""))
    if not program:
        meaning = "the image's program `train` reads /opt/ml/input/config: no pod has that folder"
        request.notes.choose(request.at, "the entrypoint of the image", meaning)
        return ["train"]
    meaning = f"put {program} into the image; `{request.get('source', '.')}` is not copied"
    request.notes.choose(request.place("program"), "the script", meaning)
    head = ["python", program] if program.endswith(".py") else ["/bin/bash", program]
    return [*head, *_hyperparameters(request)]


def _words_of_line(line: str) -> list[str]:
    """Return the words of a command line: of a single call its own, else those of a shell."""
    folder, words = one_call(line)
    return words if words and not folder else ["/bin/bash", "-c", line]


def _hyperparameters(request: Request) -> Iterator[str]:
    """Yield hyperparameters as arguments.

    Source: to_cmd_args and ProcessRunner of aws/sagemaker-training-toolkit:src/sagemaker_training
    (mapping.py, process.py); a script of a shell always got them in quotes.
    """
    is_python = str(request.get("program", "")).endswith(".py")
    for name, value in sorted(request.hyperparameters.items()):
        text = _argument(value.value)
        if is_python and (not text or _OF_SHELL.search(text)):
            meaning = (
                "images with SageMaker's toolkit before 5.1.3 run the script in a shell, which "
                "takes quotes away and splits words; the TrainJob gives the value as it is: write "
                "it as the program gets it there"
            )
            request.notes.choose(value.at, f"hyperparameter {name}", meaning)
        yield f"-{name}" if len(name) == 1 else f"--{name}"
        yield text


_OF_SHELL = re.compile(r"[^\w@%+=:,./-]")
"""What a shell may read in another way, as `shlex.quote` knows it."""


def _argument(value: Any) -> str:
    """Return the value of a hyperparameter as SageMaker gives it to a program."""
    if isinstance(value, dict):
        return ",".join(f"{key}={member}" for key, member in sorted(value.items()))
    return "" if value is None else str(value)


def _environment(request: Request) -> dict[str, str]:
    environment: dict[str, str] = {}
    for name, value in request.environment.items():
        text = str(value.value)
        reason = variable(name, text)
        if not reason and name.startswith(("FI_", "SMDATAPARALLEL_", "AWS_", "RDMAV_")):
            reason = "it is for AWS's network"
        if not reason and not text:
            reason = "it is empty, and admission refuses that"
        if reason:
            request.notes.dropped(value.at, f"variable {name}", reason)
        else:
            environment[name] = text
    for channel in request.channels:
        environment[f"SM_CHANNEL_{channel.name.upper()}"] = f"{INPUT}/{channel.name}"
    return environment
