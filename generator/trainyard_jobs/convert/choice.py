"""Choose the runtime of a team that a job runs with, and spread its ranks over that one's nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from trainyard.model.launch import Launch
from trainyard.model.quantity import counted
from trainyard.model.space import Grant, Space
from trainyard.model.tenant import Tenant
from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.image import repository
from trainyard_jobs.convert.model import Kind, Remark

_LARGEST = 5000
"""Nodes of a job, as in the schema of runtimes."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A runtime that a job may use.

    Args:
        space: the namespace that may use it.
        nodes: of the job, that of the launcher included; 0 where the ranks can't be spread.
        ranks: of each node; 0 for the runtime's own.
    """

    space: Space
    grant: Grant
    nodes: int
    ranks: int

    @property
    def launch(self) -> Launch:
        """The runtime on its nodes."""
        return self.grant.launch

    @property
    def roles(self) -> tuple[str, ...]:
        """Names of the replicated jobs with ranks."""
        return self.launch.runtime.roles


def offers(spaces: Iterable[Space]) -> Iterator[tuple[Space, Grant]]:
    """Yield each runtime that a namespace may use, with the namespace."""
    for space in spaces:
        for grant in space.grants:
            yield space, grant


def choose(draft: Draft, tenant: Tenant) -> tuple[Choice, ...] | Remark:
    """Return the runtimes that fit, the best first, or why none does.

    The best has the job's image or at least its name, is the team's default, is not deprecated,
    leaves the fewest GPUs idle, and holds little else.
    """
    choices = [
        Choice(space, grant, *_spread(draft, grant.launch))
        for space, grant in offers(tenant.spaces)
    ]
    for condition in _conditions(draft):
        left = list(filter(condition.fits, choices))
        if not left:
            where = f"the runtimes of team {tenant.name} on {tenant.cluster.name}"
            text = f"{condition.lack}; {where}: {_named(choices)}"
            at = draft.place(condition.attribute)
            return Remark(at, Kind.REFUSED, condition.attribute, text)
        choices = left
    return tuple(sorted(choices, key=lambda choice: _order(draft, tenant, choice)))


def _named(choices: Iterable[Choice]) -> str:
    """Return runtimes with what their largest job has."""
    known = {choice.launch.name: choice.grant.size for choice in choices}
    return ", ".join(f"{name} (up to {size})" for name, size in known.items()) or "none"


class _Condition(NamedTuple):
    """What a runtime must have.

    Args:
        attribute: of the draft that it is about.
        lack: the message when no runtime has it.
    """

    attribute: str
    fits: Callable[[Choice], bool]
    lack: str


def _conditions(draft: Draft) -> Iterator[_Condition]:
    kind = f" with the launcher {draft.launcher}" if draft.launcher else ""
    gpus = draft.gpus or 0
    yield _Condition(
        "launcher",
        lambda choice: draft.launcher in {"", choice.launch.runtime.launcher.name},
        f"no runtime has the launcher {draft.launcher}",
    )
    yield _Condition(
        "runtime",
        lambda choice: draft.runtime in {"", choice.launch.name, choice.launch.runtime.name},
        f"no runtime{kind} is {draft.runtime}",
    )
    yield _Condition(
        "launcher",
        lambda choice: bool(draft.runtime) or not choice.launch.runtime.initializers,
        f"every runtime{kind} fetches data first (`initialize`)",
    )
    yield _Condition(
        "gpus",
        lambda choice: choice.launch.gpus >= gpus,
        f"no node of a runtime{kind} has {counted(gpus, 'GPU')}",
    )
    yield from _sizes(draft)


def _sizes(draft: Draft) -> Iterator[_Condition]:
    ranks = f"{draft.nodes} x {draft.ranks} ranks"
    uneven = f"{ranks} can't be spread evenly over the nodes of any"
    alone = f"a job with a launcher has more than {counted(draft.nodes, 'node')}"
    yield _Condition("ranks", lambda choice: choice.nodes > 0, uneven if draft.ranks else alone)
    wide = f"the {ranks} need more nodes than a job may have"
    many = f"no job may have {counted(draft.nodes, 'node')}"
    yield _Condition(
        "nodes", lambda choice: choice.nodes <= choice.grant.nodes, wide if draft.ranks else many
    )


def _order(draft: Draft, tenant: Tenant, choice: Choice) -> tuple[bool | int | str, ...]:
    runtime = choice.launch.runtime
    wanted = repository(draft.image)
    return (
        runtime.image != draft.image,
        bool(wanted) and repository(runtime.image) != wanted,
        _words(runtime.name).isdisjoint(_words(wanted)),
        runtime.name != tenant.team.default_runtime,
        bool(runtime.end),
        choice.nodes * choice.launch.gpus,
        bool(runtime.export),
        runtime.launcher.name not in runtime.name,
        len(runtime.libraries),
        tenant.spaces.index(choice.space),
        choice.launch.name,
    )


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]{5,}", name))


def _spread(draft: Draft, launch: Launch) -> tuple[int, int]:
    """Return nodes and ranks of each, with as many ranks as the source starts.

    Each rank keeps its GPUs. Jobs on parts of nodes so come together on whole ones.
    """
    least = launch.runtime.smallest_job
    if not draft.ranks:
        return (draft.nodes, 0) if draft.nodes >= least else (0, 0)
    total, most = draft.nodes * draft.ranks, _most_ranks(launch)
    if draft.gpus:
        most = min(most, int(launch.gpus / Fraction(draft.gpus, draft.ranks)))
    else:
        least = max(least, draft.nodes)
    nodes = _evenly(total, range(least, min(total, _LARGEST) + 1), most)
    return (nodes, total // nodes) if nodes else (0, 0)


def _most_ranks(launch: Launch) -> int:
    """Return how many ranks admission permits on a node: each needs its threads."""
    return min(launch.most_ranks, launch.per_node["cpu"] // 1000 // launch.threads_per_rank)


def _evenly(total: int, sizes: range, most: int) -> int:
    """Return the first number of nodes that divides the ranks evenly; 0 if there is none."""
    for nodes in sizes:
        if total % nodes == 0 and total // nodes <= most:
            return nodes
    return 0
