"""The cut-over of a cluster from what ran there to its tree: what is done, and what is next."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from trainyard.change.plan import Step
from trainyard.model.adoption import Adoption, Stage
from trainyard.model.differences import few
from trainyard.model.platform import Site
from trainyard.model.quantity import counted, format_seconds
from trainyard.model.state import State
from trainyard.model.tenant import Tenant


class Progress(StrEnum):
    """How far a step is, by the profiles."""

    DONE = "done"
    NEXT = "next"
    """The first that is not done."""
    LATER = "later"


_MARKS = {Progress.DONE: "+", Progress.NEXT: "!", Progress.LATER: "~"}


@dataclass(frozen=True, slots=True)
class Task:
    """A step of a cut-over.

    Args:
        what: is done, in words.
        who: does it.
        is_done: by the profiles.
        back: how it is taken back.
        details: how long it takes, and its last day.
    """

    what: str
    who: str
    is_done: bool
    back: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Move:
    """A task, and how far it is."""

    progress: Progress
    task: Task

    @property
    def step(self) -> Step:
        """The step of a plan."""
        who, back = f"who: {self.task.who}", f"way back: {self.task.back}"
        what = f"{self.progress}: {self.task.what}"
        return Step(_MARKS[self.progress], what, (who, *self.task.details, back))


def cutover(site: Site, old_queues: Mapping[str, Collection[str]]) -> tuple[Move, ...]:
    """Return the steps of a cut-over, in their order.

    Args:
        site: the cluster with its teams.
        old_queues: team -> ClusterQueues of the site that it had; empty where nobody knows.
    """
    moves = []
    first = True
    for task in _tasks(site, old_queues):
        progress = Progress.DONE if task.is_done else Progress.NEXT if first else Progress.LATER
        first = first and task.is_done
        moves.append(Move(progress, task))
    return tuple(moves)


def _tasks(site: Site, old_queues: Mapping[str, Collection[str]]) -> Iterator[Task]:
    yield _begin(site)
    for tenant in site.tenants:
        yield _open(tenant, site, old_queues.get(tenant.name, ()))
    for tenant in site.tenants:
        if not tenant.team.stage.enforces:
            yield _hold_to_rules(tenant, site)
    yield _refuse(site)
    yield _end(site)


def _platform(site: Site) -> str:
    return few(site.cluster.settings.owners.platform) or "the platform team"


def _until(adoption: Adoption | Stage) -> tuple[str, ...]:
    return (f"until {adoption.until}: {adoption.reason}",) if adoption.until else ()


def _begin(site: Site) -> Task:
    adoption = site.cluster.adoption
    opened = any(queue.state.is_open for tenant in site.tenants for queue in tenant.queues)
    pools = few(f"{pool.name} ({counted(pool.nodes, 'node')})" for pool in site.cluster.pools)
    return Task(
        f"merge `adopt` and `state: held` in {site.cluster.at.file}; then bring nodes over, a "
        f"batch at a time: {pools}",
        _platform(site),
        bool(adoption.until) or opened,
        "revert the merge, and put Kueue's saved configuration back; nodes need another drain",
        _until(adoption),
    )


def _open(tenant: Tenant, site: Site, old: Collection[str]) -> Task:
    closed = [queue.state for queue in tenant.queues if not queue.state.is_open]
    queues = f"ClusterQueue {few(sorted(old))}" if old else "its old ClusterQueue"
    stage = tenant.team.stage
    return Task(
        f"team {tenant.name}: hold {queues}, wait until it reserves nothing, {_delete(tenant)}then "
        f"merge what opens the team's queues{_opening(stage, closed)}",
        f"the owner of the old queue, then {_platform(site)}",
        not closed,
        f"merge `state: held` of the team, wait until its jobs have ended, then open {queues}",
        (
            f"how long: until old jobs have ended; on the way back {_longest(tenant)}",
            *(_until(stage) if stage.observes else ()),
            *_others(tenant, site, closed),
        ),
    )


def _opening(stage: Stage, closed: Sequence[State]) -> str:
    """Return the edits that open a team's queues: a stage that observes holds them too."""
    edits = [_cause(state) for state in closed[:1] if state.at != stage.at / "stage"]
    if stage.observes:
        edits.append(f"set `stage: warn` in {stage.at.file}, which holds its jobs to the rules")
    return f": {'; and '.join(edits)}" if edits else ""


def _others(tenant: Tenant, site: Site, closed: Sequence[State]) -> Iterator[str]:
    """Yield the other teams whose queues open as soon as the cluster is not held."""
    here = site.cluster.at.file
    others = [each.name for each in site.tenants if each != tenant and _opens_with(here, each)]
    if others and here in {state.at.file for state in closed}:
        yield (
            f"an open cluster opens team {few(others)} too: to open one team alone, write "
            "`state: held` into the others' profiles"
        )


def _opens_with(cluster: str, tenant: Tenant) -> bool:
    """Return whether a cluster's profile, and nothing else, holds the queues of a team."""
    files = {queue.state.at.file for queue in tenant.queues}
    return files == {cluster} and not tenant.team.stage.observes


def _delete(tenant: Tenant) -> str:
    """Return the step in which LocalQueues go whose names the team keeps: none can be led on.

    A job that waits in such a queue is admitted when the new one of its name is there. Unless it
    keeps the tree's rules, it then holds quota without a pod.
    """
    kept = [
        (space.namespace, each.name) for space in tenant.spaces for each in space.profile.queues
    ]
    if not kept:
        return ""
    return (
        f"delete LocalQueue {few(map('/'.join, kept))} and its jobs that wait and must change "
        "(submit these again afterwards), "
    )


def _cause(state: State) -> str:
    """Return what stops a queue, and where."""
    return f"{state.display}, by `{'.'.join(map(str, state.at.path))}` in {state.at.file}"


def _longest(tenant: Tenant) -> str:
    """Return how long jobs of the team may run, by their priority classes."""
    deadlines = [each.deadline for space in tenant.spaces for each in space.priorities]
    if deadlines and all(deadlines):
        return f"at most {format_seconds(max(deadlines))}"
    return "as long as its jobs run: no priority class limits them"


def _hold_to_rules(tenant: Tenant, site: Site) -> Task:
    team = tenant.team
    return Task(
        f"team {team.name}: change what breaks its rules, then remove `adopt` in {team.at.file}",
        f"{team.contact}, then {_platform(site)}",
        False,
        "revert the merge",
        _until(team.stage),
    )


def _refuse(site: Site) -> Task:
    adoption = site.cluster.adoption
    first = "" if "Warn" in adoption.actions else "merge `pods: warn`, then "
    return Task(
        f"move pods of others off the pools, {first}merge without `pods` of `adopt`",
        f"owners of these pods, then {_platform(site)}",
        adoption.refuses,
        "revert the merge",
        () if adoption.refuses else _until(adoption),
    )


def _end(site: Site) -> Task:
    adoption = site.cluster.adoption
    return Task(
        "delete the old queues, and the flavors and cohorts whose names the tree does not have; "
        "then merge without `adopt`",
        f"their owner, then {_platform(site)}",
        not adoption.until,
        "revert the merge; what was deleted needs its manifests",
        _until(adoption),
    )
