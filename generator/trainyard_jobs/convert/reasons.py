"""What somebody asks for on the command line, and a line for each choice that was made for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from trainyard.model import names
from trainyard.model.acceptance import reasons as test_reasons
from trainyard.model.quantity import counted
from trainyard.model.space import Sample
from trainyard_jobs.convert.choice import Choice
from trainyard_jobs.convert.launch import program_of

_STATED = re.compile(r"(?<!\S)(?:-np|-n|--np|--n)[ =]\d+(?!\S)")
"""An option with the number of ranks, of mpirun."""
PYTHON = re.compile(r"python[0-9.]*")
"""Programs that run a script of Python."""


def is_of_python(command: Sequence[str]) -> bool:
    """Return whether a command is a program of Python, which says nothing of MPI."""
    first = program_of(command[0]) if command else ""
    return bool(PYTHON.fullmatch(first)) and "mpi4py" not in command


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody asks for; what is empty or 0 is chosen.

    Args:
        command: what each rank runs, with or without the program that starts the ranks.
        test: acceptance test in place of a command.
        nodes: pods of the job.
        gpus: of each pod; None when it doesn't matter.
        queue: name of a LocalQueue.
    """

    command: tuple[str, ...]
    runtime: str = ""
    nodes: int = 0
    gpus: int | None = None
    queue: str = ""
    namespace: str = ""
    priority: str = ""
    test: str = ""


def reasons_of(asked: Asked, sample: Sample, choices: Sequence[Choice]) -> Iterator[str]:
    """Yield a line for each choice."""
    yield _runtime_reason(asked, sample, choices)
    yield from _size_reasons(asked, sample)
    yield from _cost(sample)
    yield _queue_reason(asked, sample)
    yield from _priority_reason(asked, sample)
    yield from test_reasons(asked.test, sample.launch)
    if sample.launch.runtime.initializers:
        yield "storageUri: write where your data and model are in place of s3://example"
    mounts = [claim.mount_path for claim in sample.claims]
    mounts += [secret.mount_path for secret in sample.buckets]
    if mounts:
        yield f"volumes: your team's storage, at {', '.join(mounts)}"


def _runtime_reason(asked: Asked, sample: Sample, choices: Sequence[Choice]) -> str:
    others = [choice.launch.name for choice in choices[1:] if choice.space == sample.space]
    is_default = sample.launch == sample.space.default_launch
    why = "as you asked for" if asked.runtime else "your team's default" if is_default else ""
    why = why or _best(asked, sample)
    also = f"; {', '.join(others)} would fit too" if others else ""
    return f"runtime {sample.launch.name}: {why}{also}"


def _best(asked: Asked, sample: Sample) -> str:
    """Return why a runtime goes before others that fit."""
    if asked.test:
        return "the one with the most GPUs and rails"
    is_torch = not sample.launch.runtime.launcher.mpi
    if is_torch and sample.nodes > 1 and is_of_python(asked.command):
        return "torchrun starts programs of Python"
    return "the smallest that fits"


def _size_reasons(asked: Asked, sample: Sample) -> Iterator[str]:
    launch, nodes = sample.launch, sample.nodes
    size = "node" if launch.part == 1 else "pod"
    gpus = f" with {counted(launch.gpus, 'GPU')}" if launch.gpus else ""
    if gpus and nodes > 1:
        gpus += " each"
    yield f"numNodes: {counted(nodes, size)}{gpus}, of at most {sample.grant.size}"
    starter = program_of(launch.runtime.launcher.command[0])
    ranks = counted(nodes * launch.ranks, "rank")
    if stated := _STATED.search(" ".join(asked.command)):
        yield f"command: {starter} starts as many ranks as `{stated[0]}` says; the job has {ranks}"
    else:
        yield f"command: {starter} starts {ranks}, {launch.ranks} on each {size}"


def _cost(sample: Sample) -> Iterator[str]:
    """Yield what an hour of the job costs, where every pool of its nodes has a price."""
    launch = sample.launch
    prices = {
        flavor.pool.price
        for queue in sample.space.queues
        for flavor in queue.flavors
        if flavor.pool.hardware.name == launch.hardware.name
    }
    if len(prices) == 1 and (price := prices.pop()):
        amount = price.amount * sample.nodes * Decimal(launch.part.numerator)
        hour = format(round(amount / launch.part.denominator, 2), "f")
        yield f"cost: {hour} {price.currency} an hour, at {price} for a node"


def _queue_reason(asked: Asked, sample: Sample) -> str:
    own = sample.launch.hardware.node_class
    if sample.local_queue == names.DEFAULT_QUEUE:
        return f"queue: no label, so the default one, which is {own}"
    if asked.queue:
        return f"queue {asked.queue}: as you asked for; it leads to {own} nodes"
    return f"queue {own}: that of the runtime's nodes"


def _priority_reason(asked: Asked, sample: Sample) -> Iterator[str]:
    known = [priority.name for priority in sample.space.priorities]
    if asked.priority:
        yield f"priority {asked.priority}: as you asked for"
    elif known:
        yield f"priority {known[0]}: the lowest of {', '.join(known)}"
