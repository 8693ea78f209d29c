"""The committed tree, tried out: each cluster on a real control plane, with everything that it promises."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from trainyard.diagnostics import Diagnostic, has_errors
from trainyard.model.platform import Platform, Site
from trainyard.workflows.freshness import check_fresh, check_replaced
from trainyard.workflows.generate import Generation, component_manifests, generate
from trainyard_rehearsal.checks.acceptance import check_acceptance
from trainyard_rehearsal.checks.admission import check_admission
from trainyard_rehearsal.checks.finished import check_finished
from trainyard_rehearsal.checks.ledger import check_ledger
from trainyard_rehearsal.checks.life import check_life, check_queues
from trainyard_rehearsal.checks.load import check_load
from trainyard_rehearsal.checks.outsiders import check_outsiders
from trainyard_rehearsal.checks.promises import check_promises
from trainyard_rehearsal.checks.sampling import Sampled, every_team, remarked, sampled
from trainyard_rehearsal.checks.team_namespaces import check_team_namespaces
from trainyard_rehearsal.checks.tenant_objects import check_tenant_objects
from trainyard_rehearsal.checks.tenants import check_tenants
from trainyard_rehearsal.control_plane.build import build, cache_folder, find
from trainyard_rehearsal.control_plane.components import read_components
from trainyard_rehearsal.control_plane.lab import Lab, Plan, alone, opened
from trainyard_rehearsal.control_plane.redis import fetch_redis, find_redis
from trainyard_rehearsal.control_plane.side_by_side import side_by_side
from trainyard_rehearsal.logs import mark
from trainyard_rehearsal.outcome import Outcome
from trainyard_rehearsal.publication import Origin, deliver, sample_jobs, synced

Tell = Callable[[str], None]
"""Takes a line of progress."""

Keep = Callable[[Lab], None]
"""Does something with a control plane on which all was tried."""

_Task = Callable[[], tuple[Outcome, ...]]

_AT_ONCE = 2
"""Control planes that run at one time: each keeps about one core busy, and takes 2 GB."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What was tried.

    Args:
        outcomes: by cluster; empty when the tree has errors before anything starts.
    """

    generation: Generation
    diagnostics: tuple[Diagnostic, ...]
    outcomes: dict[str, tuple[Outcome, ...]]

    @property
    def fine(self) -> bool:
        """Whether every promise held."""
        every = [outcome.fine for outcomes in self.outcomes.values() for outcome in outcomes]
        return bool(every) and all(every) and not has_errors(self.diagnostics)


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be rehearsed.

    Args:
        source: the profiles, and the tree that was made from them.
        clusters: names of the only ones wanted; all when empty.
        team: name of the only one whose jobs are run; all when empty.
        on: what the control plane is, e.g. ``kind``.
        every: whether each team is tried, and not a sample of each shape.
    """

    source: Origin
    clusters: tuple[str, ...]
    team: str
    on: str
    every: bool = False


def build_programs(request: Request, tell: Tell) -> None:
    """Build the programs of the releases of the clusters, once.

    Raises:
        TreeError: a profile can't be read.
        ToolError: there is no Go, or a program does not build.
    """
    source = request.source
    generation = generate(source.root, source.components_root, request.clusters, source.today)
    with alone(cache_folder()):
        for release in sorted({site.cluster.release.name for site in _sites(generation)}):
            build(read_components(release, request.on), cache_folder(), tell)
        fetch_redis(cache_folder(), tell)


def rehearse(request: Request, tell: Tell, keep: Keep | None) -> Rehearsal:
    """Start two control planes for each cluster, two at a time, and try out its tree.

    Args:
        request: what and where.
        tell: takes lines of progress.
        keep: called when all was tried and the first control plane still runs; the others then
            wait.

    Raises:
        TreeError: a file can't be read.
        ToolError: a program is missing, does not start, or ends.
    """
    source = request.source
    generation = generate(
        source.root, source.components_root, request.clusters, source.today, source.target
    )
    diagnostics = generation.diagnostics
    for check in (partial(check_replaced, clusters=request.clusters), check_fresh):
        if not has_errors(diagnostics):
            diagnostics += tuple(check(source.target, generation))
    if has_errors(diagnostics):
        return Rehearsal(generation, diagnostics, {})
    plans = [(site, _plan(site, request, generation)) for site in _sites(generation)]
    tasks = [
        task
        for site, plan in plans
        for task in _tasks(site, plan, generation, request, (tell, keep))
    ]
    find_redis(cache_folder())
    with alone(cache_folder()):
        shutil.rmtree(cache_folder() / "run", ignore_errors=True)
        # Ctrl-C reaches the main thread only, which must be the one that waits for it.
        done = [task() for task in tasks] if keep else side_by_side(tasks, _AT_ONCE)
    halves = zip(plans, done[::2], done[1::2], strict=True)
    outcomes = {site.name: checked + delivered for (site, _), checked, delivered in halves}
    return Rehearsal(generation, diagnostics, outcomes)


def _tasks(
    site: Site,
    plan: Plan,
    generation: Generation,
    request: Request,
    output: tuple[Tell, Keep | None],
) -> Iterator[_Task]:
    """Yield what is done on a control plane with the tree of a cluster, and on one that Argo CD brings it to."""
    (tell, keep), folder = output, cache_folder() / "run" / site.name
    built = find(plan.components, cache_folder())
    programs = f"{len(plan.components.programs)} programs of {site.cluster.release.name}"
    manifests = generation.manifests[site.name]
    whole = request.every or request.team
    teams = every_team(site) if whole else sampled(site, [*manifests, *component_manifests(site)])

    def checked() -> tuple[Outcome, ...]:
        tell(f"{site.name}: starting {programs}")
        with opened(plan, built, folder / "tree") as lab:
            if not sample_jobs(site, manifests, request.team):
                tell(
                    f"{site.name}: no job of {request.team or 'any team'} to run; what needs one "
                    "is not tried"
                )
            outcomes = tuple(_told(lab, _checks(lab, generation, request.team, teams), tell))
            if keep:
                keep(lab)
            return outcomes

    def delivered() -> tuple[Outcome, ...]:
        tell(
            f"{site.name}: starting {programs}, and Argo CD "
            f"{site.cluster.release.versions['argocd']}"
        )
        with opened(plan, built, folder / "delivery") as lab:
            return tuple(_told(lab, deliver(lab, request.source, teams), tell))

    yield from (checked, delivered)


def _sites(generation: Generation) -> Iterator[Site]:
    platform: Platform | None = generation.checked.platform
    yield from (
        site for site in (platform.sites if platform else ()) if site.name in generation.manifests
    )


def _plan(site: Site, request: Request, generation: Generation) -> Plan:
    kinds = {
        (each.body["apiVersion"], each.body["kind"])
        for each in synced(site, generation.manifests[site.name])
    }
    return Plan(
        site,
        request.source.target / site.name,
        read_components(site.cluster.release.name, request.on),
        kinds,
    )


def _told(lab: Lab, outcomes: Iterator[Outcome], tell: Tell) -> Iterator[Outcome]:
    """Pass outcomes on while every process lives, with what was logged: a dead controller's work is no finding."""
    since = mark(lab.processes.logs)
    for outcome in outcomes:
        lab.processes.check()
        tell(f"{lab.plan.site.name}: {outcome.promise} {outcome.held}/{outcome.tried}")
        yield since.explained(outcome)
        since = mark(lab.processes.logs)


def _checks(lab: Lab, generation: Generation, team: str, teams: Sampled) -> Iterator[Outcome]:
    """Yield what is tried on the tree as it was applied: where there is no team or no job yet, less."""
    site = lab.plan.site
    manifests = generation.manifests[site.name]
    yield from check_acceptance(lab, synced(site, manifests))
    if every := sample_jobs(site, manifests, ""):
        yield from check_queues(lab)
        yield from remarked(check_tenants(lab, every, teams.teams), teams)
        spaces = [
            space
            for tenant in site.tenants
            if tenant.name in teams.teams
            for space in tenant.spaces
        ]
        yield from remarked(check_tenant_objects(lab, spaces), teams)
    yield from check_outsiders(lab)
    yield from check_team_namespaces(lab)
    if samples := sample_jobs(site, manifests, team):
        tried = [each for each in samples if each[0].space.team.name in teams.teams]
        yield from remarked(check_life(lab, tried), teams)
        yield from check_finished(lab, samples)
        yield from remarked(check_ledger(lab, samples, teams.teams), teams)
        yield from remarked(check_promises(lab, samples, teams.teams), teams)
        yield from remarked(check_load(lab, samples, teams.teams), teams)
        yield from remarked(check_admission(lab, tried), teams)
