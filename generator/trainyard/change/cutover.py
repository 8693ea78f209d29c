"""The cut-over of a cluster from what ran there to its tree: what is done, and what is next."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from trainyard.change.of_the_site import OldQueues, deleted, left_over, old_local_queues, saved
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
        details: how long it takes, its last day, commands, and what the profiles can't show.
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


def cutover(site: Site, old_queues: Mapping[str, OldQueues]) -> tuple[Move, ...]:
    """Return the steps of a cut-over, in their order.

    Args:
        site: the cluster with its teams.
        old_queues: of each team; empty where nobody knows.
    """
    moves = []
    first = True
    for task in _tasks(site, old_queues):
        progress = Progress.DONE if task.is_done else Progress.NEXT if first else Progress.LATER
        first = first and task.is_done
        moves.append(Move(progress, task))
    return tuple(moves)


def _tasks(site: Site, old_queues: Mapping[str, OldQueues]) -> Iterator[Task]:
    yield _begin(site)
    for tenant in site.tenants:
        yield _open(tenant, site, old_queues.get(tenant.name, OldQueues()))
    for tenant in site.tenants:
        yield _hold_to_rules(tenant, site, old_queues.get(tenant.name, OldQueues()))
    yield _refuse(site)
    yield _end(site)


def _platform(site: Site) -> str:
    return few(site.cluster.settings.owners.platform) or "the platform team"


def _until(adoption: Adoption | Stage) -> tuple[str, ...]:
    return (f"until {adoption.until}: {adoption.reason}",) if adoption.until else ()


def _begin(site: Site) -> Task:
    adoption = site.cluster.adoption
    opened = any(queue.state.is_open for tenant in site.tenants for queue in tenant.queues)
    return Task(
        f"merge `adopt` and `state: held` in {site.cluster.at.file}; then bring nodes over",
        _platform(site),
        bool(adoption.until) or opened,
        "revert the merge, and put Kueue's saved configuration back; nodes need another drain",
        (*_until(adoption), *_unseen(site), *_unspared(site)),
    )


def _unseen(site: Site) -> Iterator[str]:
    """Yield what of the first step no profile shows."""
    pools = few(f"{pool.name} ({counted(pool.nodes, 'node')})" for pool in site.cluster.pools)
    yield (
        f"profiles do not show whether it is synced, nor which nodes are over: {pools}. Bring them "
        f"over a batch at a time; `trainyard preflight {site.name} --phase after` compares them"
    )


def _unspared(site: Site) -> Iterator[str]:
    """Yield whom a cluster without `adopt` refuses, though the team is observed."""
    observed = [each.name for each in site.tenants if each.team.stage.observes]
    if observed and site.cluster.adoption.refuses:
        yield (
            f"the cluster refuses pods of others on its pools, and at `stage: observe` those of "
            f"team {few(observed)} count as such: they do not start again"
        )


def _open(tenant: Tenant, site: Site, old: OldQueues) -> Task:
    closed = [queue.state for queue in tenant.queues if not queue.state.is_open]
    queues = f"ClusterQueue {few(sorted(old.cluster))}" if old.cluster else "its old ClusterQueue"
    stage, kept = tenant.team.stage, old_local_queues(tenant, old)
    return Task(
        f"team {tenant.name}: hold {queues}, wait until it reserves nothing, {deleted(kept)}then "
        f"merge what opens the team's queues{_opening(stage, closed)}",
        f"the owner of the old queue, then {_platform(site)}",
        not closed,
        f"merge `state: held` of the team, wait until its jobs have ended, "
        f"{_observe_again(tenant, site, kept)}then open {queues}",
        (
            f"how long: until old jobs have ended; on the way back {_longest(tenant)}",
            *map(saved, kept),
            *(_until(stage) if stage.observes else ()),
            *_others(tenant, site, closed),
            *(_too_early(tenant, site, kept) if closed else ()),
        ),
    )


def _was_there(tenant: Tenant, site: Site, kept: Collection[str]) -> bool:
    """Return whether a team has workloads of the site, as far as profiles and the note show."""
    adopted = {f"Namespace/{each}" for each in tenant.namespaces}
    return bool(
        kept or not tenant.team.stage.enforces or adopted & {*site.cluster.adoption.objects}
    )


def _observe_again(tenant: Tenant, site: Site, kept: Collection[str]) -> str:
    """Return the way back for jobs of the site: only a team that is observed refuses none."""
    if not _was_there(tenant, site, kept):
        return ""
    apply = "apply the saved LocalQueues, " if kept else ""
    return f"merge `adopt` with `stage: observe` in {tenant.team.at.file} instead, {apply}"


def _too_early(tenant: Tenant, site: Site, kept: Collection[str]) -> Iterator[str]:
    """Yield what a stage does to jobs of the site whose old queue nobody needs to have held."""
    stage = tenant.team.stage
    if not stage.observes and _was_there(tenant, site, kept):
        yield (
            f"`stage: {stage.word}` came before its turn: jobs of the site in "
            f"{few(tenant.namespaces)} do not start again. Until the old queue reserves nothing, "
            f"the team needs `stage: observe`"
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


def _cause(state: State) -> str:
    """Return what stops a queue, and where."""
    return f"{state.display}, by `{'.'.join(map(str, state.at.path))}` in {state.at.file}"


def _longest(tenant: Tenant) -> str:
    """Return how long jobs of the team may run, by their priority classes."""
    deadlines = [each.deadline for space in tenant.spaces for each in space.priorities]
    if deadlines and all(deadlines):
        return f"at most {format_seconds(max(deadlines))}"
    return "as long as its jobs run: no priority class limits them"


def _hold_to_rules(tenant: Tenant, site: Site, old: OldQueues) -> Task:
    team = tenant.team
    was_there = _was_there(tenant, site, old_local_queues(tenant, old))
    early = team.stage.enforces and not all(queue.state.is_open for queue in tenant.queues)
    return Task(
        f"team {team.name}: change what breaks its rules, then remove `adopt` in {team.at.file}",
        f"{team.contact}, then {_platform(site)}",
        team.stage.enforces,
        "revert the merge",
        (
            *_until(team.stage),
            *(left_over(tenant) if was_there else ()),
            *(("before its turn: its queues are not open",) if early and was_there else ()),
        ),
    )


def _refuse(site: Site) -> Task:
    adoption = site.cluster.adoption
    first = "" if "Warn" in adoption.actions else "merge `pods: warn`, then "
    return Task(
        f"move pods of others off the pools, {first}merge without `pods` of `adopt`",
        f"owners of these pods, then {_platform(site)}",
        adoption.refuses,
        "revert the merge",
        _early(site) if adoption.refuses else _until(adoption),
    )


def _early(site: Site) -> tuple[str, ...]:
    """Return which teams a step came before."""
    waiting = [each.name for each in site.tenants if not each.team.stage.enforces]
    return (f"before its turn: not held to the rules yet: team {few(waiting)}",) if waiting else ()


def _end(site: Site) -> Task:
    adoption = site.cluster.adoption
    return Task(
        "delete the old queues, and the flavors and cohorts whose names the tree does not have; "
        "then merge without `adopt`",
        f"their owner, then {_platform(site)}",
        not adoption.until,
        "revert the merge; what was deleted needs its manifests",
        _until(adoption) or _early(site),
    )
