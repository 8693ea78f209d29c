"""Rehearse the committed tree: try each promise of each cluster on real control planes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence

from trainyard.diagnostics import has_errors
from trainyard.generation.generate import Generation, generate, unwatched
from trainyard.generation.generate import Progress as Steps
from trainyard.generation.objects import component_manifests
from trainyard.golang import cache_folder
from trainyard.model.platform import Platform, Site
from trainyard.model.quantity import counted
from trainyard.model.release import Release
from trainyard.model.space import Space
from trainyard.workflows.generate import check_tree
from trainyard_rehearsal.checks.acceptance import check_acceptance
from trainyard_rehearsal.checks.accounts import check_accounts
from trainyard_rehearsal.checks.admission import check_admission
from trainyard_rehearsal.checks.finished import check_finished
from trainyard_rehearsal.checks.load import check_load
from trainyard_rehearsal.checks.outsiders import check_outsiders
from trainyard_rehearsal.checks.platform_controllers import check_platform_controllers
from trainyard_rehearsal.checks.platform_data import check_platform_data
from trainyard_rehearsal.checks.queueing import check_queueing
from trainyard_rehearsal.checks.queues import check_queues
from trainyard_rehearsal.checks.quotas import check_quotas
from trainyard_rehearsal.checks.sample_runs import check_sample_jobs
from trainyard_rehearsal.checks.sampling import (
    TeamSample,
    all_teams,
    sample_teams,
    with_sample_remark,
)
from trainyard_rehearsal.checks.taken_names import check_taken_names
from trainyard_rehearsal.checks.team_namespaces import check_team_namespaces
from trainyard_rehearsal.checks.team_pages import check_team_pages
from trainyard_rehearsal.checks.tenant_objects import check_tenant_objects
from trainyard_rehearsal.checks.tenants import check_tenants
from trainyard_rehearsal.control_plane.build import build, find
from trainyard_rehearsal.control_plane.components import components_of
from trainyard_rehearsal.control_plane.lab import Lab, Plan, alone, opened
from trainyard_rehearsal.control_plane.redis import fetch_redis, find_redis
from trainyard_rehearsal.control_plane.sdk import fetch_sdk, find_sdk
from trainyard_rehearsal.control_plane.side_by_side import side_by_side
from trainyard_rehearsal.outcome import Outcome
from trainyard_rehearsal.publication import deliver, sample_jobs, synced
from trainyard_rehearsal.repaired import held, out_of_use, repaired
from trainyard_rehearsal.tasks import (
    AT_ONCE,
    Progress,
    Rehearsal,
    Request,
    Task,
    counting,
    plan_of,
    reported,
)

Keep = Callable[[Lab], None]
"""Function that uses a control plane after everything was tried on it."""


def build_programs(
    request: Request, progress: Progress, others: Sequence[Release] = ()
) -> Rehearsal:
    """Build the programs of the clusters' releases, unless they are already built.

    Args:
        request: the clusters.
        progress: prints lines of progress.
        others: releases that are built too.

    Returns:
        The errors of the profiles, after which nothing is built.

    Raises:
        TreeError: a profile can't be read.
        ToolError: there is no Go, or a program does not build.
    """
    source = request.source
    generation = generate(source.root, source.components_root, request.clusters, source.today)
    if has_errors(generation.diagnostics):
        return Rehearsal(generation, generation.diagnostics, {})
    releases = [site.cluster.release for site in _sites(generation)]
    with alone(cache_folder()):
        every = {each.identity: each for each in (*releases, *others)}
        for _, release in sorted(every.items()):
            build(components_of(release, request.on), cache_folder(), progress)
        for version in sorted({release.sdk for release in releases}):
            fetch_sdk(version, cache_folder(), progress)
        fetch_redis(cache_folder(), progress)
    return Rehearsal(generation, (), {})


def rehearse(
    request: Request, progress: Progress, keep: Keep | None, steps: Steps = unwatched
) -> Rehearsal:
    """Start two control planes for each cluster, two at a time, and try out its tree.

    Args:
        request: clusters, teams and kind of control plane.
        progress: prints lines of progress.
        keep: called after everything was tried, while the first control plane still runs and
            the others wait.
        steps: counts the control planes that are done.

    Raises:
        TreeError: a file can't be read.
        ToolError: a program is missing, does not start, or ends early.
    """
    source = request.source
    generation, diagnostics = check_tree(source, source.today, request.clusters)
    if has_errors(diagnostics):
        return Rehearsal(generation, diagnostics, {})
    _report_maintenance(_sites(generation), progress)
    generation = repaired(generation, source.components_root)
    sites = list(_sites(generation))
    tasks: list[Task] = []
    for site in sites:
        objects = synced(site, generation.manifests[site.name])
        plan = plan_of(site, source.target / site.name, objects, request.on)
        tasks += _tasks(plan, generation, request, (progress, keep))
    tasks = [*counting(tasks, steps)]
    find_redis(cache_folder())
    for site in sites:
        find_sdk(site.cluster.release.sdk, cache_folder())
    with alone(cache_folder()):
        shutil.rmtree(cache_folder() / "run", ignore_errors=True)
        # Ctrl-C reaches the main thread only, which must be the one that waits for it.
        done = [task() for task in tasks] if keep else side_by_side(tasks, AT_ONCE)
    halves = zip(sites, done[::2], done[1::2], strict=True)
    outcomes = {site.name: checked + delivered for site, checked, delivered in halves}
    return Rehearsal(generation, diagnostics, outcomes)


def _report_maintenance(sites: Iterator[Site], progress: Progress) -> None:
    """Print what is tried although it is out of use: nodes in maintenance, and held queues."""
    for site in sites:
        if out := out_of_use(site):
            progress(f"{site.name}: {counted(out, 'node')} in maintenance, tried as if in use")
        if teams := held(site):
            progress(f"{site.name}: queues of {counted(teams, 'team')} held, tried as if open")


def _tasks(
    plan: Plan,
    generation: Generation,
    request: Request,
    output: tuple[Progress, Keep | None],
) -> Iterator[Task]:
    """Yield the tasks of a cluster: try its applied tree, and try its delivery by Argo CD."""
    site, (progress, keep) = plan.site, output
    folder = cache_folder() / "run" / site.name
    built = find(plan.components, cache_folder())
    programs = f"{len(plan.components.programs)} programs of {site.cluster.release.name}"
    manifests = generation.manifests[site.name]
    teams = _teams(site, request, generation)

    def checked() -> tuple[Outcome, ...]:
        progress(f"{site.name}: starting {programs}")
        if site.mpi_spaces:
            progress(f"{site.name}: no MPI operator runs here; MPIJobs are not tried")
        with opened(plan, built, folder / "tree") as lab:
            if not sample_jobs(site, manifests, request.team):
                team = request.team or "any team"
                progress(
                    f"{site.name}: no job of {team} to run; promises that need one are not tried"
                )
            checks = _checks(lab, generation, request.team, teams)
            outcomes = tuple(reported(lab, checks, progress))
            if keep:
                keep(lab)
            return outcomes

    def delivered() -> tuple[Outcome, ...]:
        version = plan.components.programs["argocd"].version
        progress(f"{site.name}: starting {programs}, and Argo CD {version}")
        with opened(plan, built, folder / "delivery") as lab:
            return tuple(reported(lab, deliver(lab, request.source, teams), progress))

    yield from (checked, delivered)


def _teams(site: Site, request: Request, generation: Generation) -> TeamSample:
    """Return the teams that are tried: all of them, or a sample of each shape."""
    if request.every or request.team:
        return all_teams(site)
    return sample_teams(site, [*generation.manifests[site.name], *component_manifests(site)])


def _sites(generation: Generation) -> Iterator[Site]:
    platform: Platform | None = generation.checked.platform
    for site in platform.sites if platform else ():
        if site.name in generation.manifests:
            yield site


def _checks(lab: Lab, generation: Generation, team: str, teams: TeamSample) -> Iterator[Outcome]:
    """Yield the outcomes of the applied tree; without a team or a job there are fewer."""
    site = lab.plan.site
    manifests = generation.manifests[site.name]
    yield from check_acceptance(lab, synced(site, manifests))
    if every := sample_jobs(site, manifests, ""):
        yield from check_queues(lab)
        yield from with_sample_remark(check_tenants(lab, every, teams.teams), teams)
        spaces = _spaces(site, teams)
        yield from with_sample_remark(check_tenant_objects(lab, spaces), teams)
        yield from with_sample_remark(check_platform_controllers(lab, spaces), teams)
        yield from check_accounts(lab, spaces)
    yield from check_outsiders(lab)
    yield from check_platform_data(lab)
    yield from check_team_namespaces(lab)
    if samples := sample_jobs(site, manifests, team):
        tried = [sample for sample in samples if sample[0].space.team.name in teams.teams]
        yield from with_sample_remark(check_taken_names(lab, tried), teams)
        yield from with_sample_remark(check_sample_jobs(lab, tried), teams)
        yield from check_finished(lab, samples)
        yield from with_sample_remark(check_team_pages(lab, {team} if team else teams.teams), teams)
        yield from with_sample_remark(check_quotas(lab, samples, teams.teams), teams)
        yield from with_sample_remark(check_queueing(lab, samples, teams.teams), teams)
        yield from with_sample_remark(check_load(lab, samples, teams.teams), teams)
        yield from with_sample_remark(check_admission(lab, tried), teams)


def _spaces(site: Site, teams: TeamSample) -> list[Space]:
    """Return the namespaces of the teams that are tried."""
    tenants = [tenant for tenant in site.tenants if tenant.name in teams.teams]
    return [space for tenant in tenants for space in tenant.spaces]
