"""A job that somebody asks for on the command line: its runtime, its size and its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from trainyard.diagnostics import Pointer
from trainyard.model import names
from trainyard.model.expansion import literal
from trainyard.model.launch import Launch
from trainyard.model.launcher import Launcher
from trainyard.model.priority import Priority
from trainyard.model.space import Sample, Space
from trainyard.model.tenant import Tenant
from trainyard_jobs.convert.arguments import OPEN_MPI, read_line
from trainyard_jobs.convert.choice import Choice, choose, offers
from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.finish import shortened
from trainyard_jobs.convert.launch import MPI, program_of
from trainyard_jobs.convert.model import Remark
from trainyard_jobs.convert.reasons import PYTHON, Asked, is_of_python, reasons_of
from trainyard_jobs.convert.torchrun import read_torchrun, starter

_TORCHRUN = "torchrun"
_STARTERS = frozenset({"accelerate", "deepspeed", "horovodrun", "sbatch", "srun"})
"""Programs that start ranks and look for the hosts in a way of their own."""
_SCRIPT = re.compile(r"\.(py|sh)\Z")


@dataclass(frozen=True, slots=True)
class Found:
    """A job that was found for what somebody asks.

    Args:
        reasons: one line for each choice.
    """

    sample: Sample
    reasons: tuple[str, ...]


class Refused(Exception):  # noqa: N818 - the usual end of a wish that can't come true
    """What somebody asks for can't be had; the message says why, and what can."""


def find(asked: Asked, tenant: Tenant) -> Found:
    """Return the job of a team that somebody asks for.

    Raises:
        Refused: the team has no runtime, queue, namespace or class for it.
    """
    choices = _choices(asked, _narrowed(asked, tenant))
    choice = choices[0]
    launcher = choice.launch.runtime.launcher
    prefix = shortened(_prefix(asked), choice.launch.longest_job_name)
    sample = Sample(
        choice.space,
        choice.grant,
        choice.nodes,
        args=() if asked.test else tuple(map(literal, _arguments(asked.command, launcher))),
        priority=_priority(asked, choice.space),
        prefix=prefix,
        test=asked.test,
        queue=asked.queue,
    )
    return Found(sample, tuple(reasons_of(asked, sample, choices)))


def _narrowed(asked: Asked, tenant: Tenant) -> Tenant:
    """Return a team with only the runtimes whose namespace, queue and launcher are asked for."""
    spaces = tuple(_spaces(asked, tenant))
    if asked.test:
        return replace(tenant, spaces=tuple(_testing(asked, spaces)))
    first = starter(asked.command) or program_of(asked.command[0])
    if first in _STARTERS:
        raise Refused(
            f"`{first}` looks for hosts of its own: give the program that each rank runs, such "
            "as `python train.py`, or start it with mpirun or torchrun"
        )
    return replace(tenant, spaces=_started(spaces, first))


def _started(spaces: Sequence[Space], first: str) -> tuple[Space, ...]:
    """Return namespaces with the runtimes that a program is of, or that start it."""
    kept = _with(spaces, lambda launch: _starts(launch, first))
    if not any(offers(kept)):
        known = ", ".join(grant.launch.name for _, grant in offers(spaces))
        raise Refused(
            f"no runtime starts its ranks with {first}; there is: {known or 'none'}. Ask the "
            f"platform team for a runtime that does, in `runtimes` of the team's profile"
        )
    return kept


def _testing(asked: Asked, spaces: Sequence[Space]) -> Iterator[Space]:
    """Yield the namespaces with the runtime of a test: that which is asked for, or the best."""
    able = [replace(space, grants=space.tested(asked.test)) for space in spaces]
    if not any(offers(able)):
        raise Refused(
            f"no runtime can run the test {asked.test}: {_lacking(asked.test, spaces)}. "
            "Ask the platform team for what is missing"
        )
    for space in able:
        yield space if asked.runtime else replace(space, grants=space.grants[:1])


def _lacking(test: str, spaces: Sequence[Space]) -> str:
    """Return what each runtime lacks for a test."""
    lacking = []
    for space, grant in offers(spaces):
        lacking.append(f"{grant.launch.name} lacks {space.lacks(test, grant)}")
    return "; ".join(lacking) or "there is none"


def _with(spaces: Iterable[Space], fits: Callable[[Launch], bool]) -> tuple[Space, ...]:
    """Return namespaces with only the runtimes that fit."""
    kept = []
    for space in spaces:
        grants = tuple(grant for grant in space.grants if fits(grant.launch))
        kept.append(replace(space, grants=grants))
    return tuple(kept)


def _starts(launch: Launch, first: str) -> bool:
    """Return whether a program is that of a runtime, or one that any runtime starts."""
    others = {_TORCHRUN} if launch.runtime.launcher.mpi else MPI
    return first not in others


def _spaces(asked: Asked, tenant: Tenant) -> Iterator[Space]:
    """Yield the namespaces that are asked for, each with the runtimes of the queue."""
    _need("namespace", asked.namespace, [space.namespace for space in tenant.spaces])
    wanted = [each for each in tenant.spaces if asked.namespace in {"", each.namespace}]
    local = [queue.name for space in wanted for queue in space.local_queues]
    _need("queue", asked.queue, [*dict.fromkeys([*local, names.DEFAULT_QUEUE])])
    for space in wanted:
        yield from _with([space], partial(_is_of, _class(asked, space)))


def _is_of(node_class: str, launch: Launch) -> bool:
    """Return whether a runtime is for a class of node, which is empty for any."""
    return node_class in {"", launch.hardware.node_class}


def _class(asked: Asked, space: Space) -> str:
    """Return the class of node that a job must have; empty for any.

    Without a queue, a runtime or a number of GPUs, the default queue decides as for any job.
    """
    is_open = bool(asked.runtime) or asked.gpus is not None
    queue = asked.queue or ("" if is_open else names.DEFAULT_QUEUE)
    if queue == names.DEFAULT_QUEUE:
        return space.default_class
    return next((each.queue.node_class for each in space.local_queues if each.name == queue), queue)


def _need(kind: str, name: str, known: Collection[str]) -> None:
    if name and name not in known:
        raise Refused(f"the team has no {kind} `{name}`; there is: {', '.join(known) or 'none'}")


def _choices(asked: Asked, tenant: Tenant) -> Sequence[Choice]:
    """Return the runtimes that fit, the best first.

    Without a number of nodes it is one, or two where a job has a launcher that is one of its nodes.
    A test has two if it can. The team's default runtime goes before a smaller job with another.
    """
    sizes = [asked.nodes] if asked.nodes else [2, 1] if asked.test else [1, 2]
    draft = Draft("a job", Pointer(""), "", "", 0, runtime=asked.runtime, gpus=asked.gpus)
    for team, nodes in product((_with_default(tenant), tenant), sizes):
        draft = replace(draft, nodes=nodes)
        if not isinstance(choose(draft, team), Remark):
            break
    chosen = choose(draft, tenant)
    if isinstance(chosen, Remark):
        raise Refused(chosen.meaning + _nearest(asked, tenant))
    return _torch_first(chosen, tenant) if is_of_python(asked.command) else chosen


def _torch_first(choices: Sequence[Choice], tenant: Tenant) -> Sequence[Choice]:
    """Return runtimes: the team's default, then those of torchrun, else in their order."""
    default = tenant.team.default_runtime

    def place(choice: Choice) -> tuple[bool, bool]:
        runtime = choice.launch.runtime
        return runtime.name != default, runtime.launcher.name != _TORCHRUN

    return sorted(choices, key=place)


def _with_default(tenant: Tenant) -> Tenant:
    """Return a team with only its default runtime, which may be none."""
    name = tenant.team.default_runtime
    spaces = _with(tenant.spaces, lambda launch: launch.runtime.name == name)
    return replace(tenant, spaces=spaces)


def _nearest(asked: Asked, tenant: Tenant) -> str:
    """Return the nodes that have as many GPUs, where nobody has them in one."""
    _, largest = max(offers(tenant.spaces), key=lambda offer: offer[1].launch.gpus)
    gpus, of_node = asked.gpus or 0, largest.launch.gpus
    nodes = -(-gpus // of_node) if of_node else 0
    if gpus <= of_node or not largest.launch.runtime.smallest_job <= nodes <= largest.nodes:
        return ""
    return f"; `--gpus` counts those of one node: try `--nodes {nodes} --gpus {of_node}`"


def _arguments(command: tuple[str, ...], launcher: Launcher) -> tuple[str, ...]:
    """Return what follows the launcher's own command."""
    first, rest = program_of(command[0]), command[1:]
    if first in MPI:
        return rest
    if starter(command) == _TORCHRUN:
        return _of_torchrun(command)
    if launcher.mpi:
        return command
    script = rest[:1] == ("-m",) or (rest and not rest[0].startswith("-"))
    return rest if PYTHON.fullmatch(first) and script else ("--no-python", *command)


def _of_torchrun(command: tuple[str, ...]) -> tuple[str, ...]:
    """Return what follows torchrun, without what Trainer gives."""
    call = read_torchrun(command)
    return command[1:] if call.unknown >= 0 else tuple(call.words_kept(command))


def _priority(asked: Asked, space: Space) -> Priority | None:
    known = {priority.name: priority for priority in space.priorities}
    _need("priority", asked.priority, known)
    return known.get(asked.priority)


def _prefix(asked: Asked) -> str:
    """Return the beginning of a job's name: the script or else the program of its ranks."""
    if asked.test:
        return f"test-{asked.test}-"
    command = asked.command
    first = program_of(command[0])
    words = read_line(command, OPEN_MPI).rest if first in MPI else command
    programs = [program_of(word).lower() for word in words] or ["job"]
    script = next(filter(_SCRIPT.search, programs), programs[0])
    plain = re.sub(r"[^a-z0-9]+", "-", _SCRIPT.sub("", script)).strip("-")
    return f"{plain if plain[:1].isalpha() else 'job'}-"
