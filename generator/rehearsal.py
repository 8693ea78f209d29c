"""The committed tree, tried out: each cluster on a real control plane, with everything that it promises."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from generator.committed import check_fresh, check_replaced
from generator.diagnostics import Diagnostic, has_errors
from generator.model.manifest import Manifest
from generator.model.platform import Platform, Site
from generator.model.space import Sample
from generator.pipeline import Generation, component_manifests, emit_site, generate
from generator.rehearse.acceptance import check_acceptance
from generator.rehearse.admission import check_admission
from generator.rehearse.argocd import ArgoCD
from generator.rehearse.build import build, cache_folder, find
from generator.rehearse.change import check_changes
from generator.rehearse.components import read_components
from generator.rehearse.delivery import Delivery, Tree
from generator.rehearse.finished import check_finished
from generator.rehearse.lab import Lab, Plan, alone, opened
from generator.rehearse.ledger import check_ledger
from generator.rehearse.life import check_life, check_queues
from generator.rehearse.load import check_load
from generator.rehearse.meddling import check_meddling
from generator.rehearse.outcome import Outcome
from generator.rehearse.outsiders import check_outsiders
from generator.rehearse.promises import check_promises
from generator.rehearse.redis import fetch_redis, find_redis
from generator.rehearse.repository import Repository
from generator.rehearse.sync import check_sync
from generator.rehearse.tenant_objects import check_tenant_objects
from generator.rehearse.tenants import check_tenants
from generator.render.site import render_site
from generator.render.unit import UNLISTED
from generator.tree.lockfile import LOCKFILE
from generator.upkeep import changed, course

Tell = Callable[[str], None]
"""Takes a line of progress."""

Keep = Callable[[Lab], None]
"""Does something with a control plane on which all was tried."""


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
        root: the profiles.
        target: the tree.
        components_root: path of the hand-written components relative to the tree.
        clusters: names of the only ones wanted; all when empty.
        team: name of the only one whose jobs are run; all when empty.
        today: ISO date that waivers are measured against.
        on: what the control plane is, e.g. ``kind``.
    """

    root: Path
    target: Path
    components_root: str
    clusters: tuple[str, ...]
    team: str
    today: str
    on: str


def build_programs(request: Request, tell: Tell) -> None:
    """Build the programs of the releases of the clusters, once.

    Raises:
        TreeError: a profile can't be read.
        ToolError: there is no Go, or a program does not build.
    """
    generation = generate(request.root, request.components_root, request.clusters, request.today)
    with alone(cache_folder()):
        for release in sorted({site.cluster.release.name for site in _sites(generation)}):
            build(read_components(release, request.on), cache_folder(), tell)
        fetch_redis(cache_folder(), tell)


def rehearse(request: Request, tell: Tell, keep: Keep) -> Rehearsal:
    """Start a control plane for each cluster, one after the other, and try out its tree.

    Args:
        request: what and where.
        tell: takes lines of progress.
        keep: called when all was tried and the control plane still runs.

    Raises:
        TreeError: a file can't be read.
        ToolError: a program is missing, does not start, or ends.
    """
    generation = generate(request.root, request.components_root, request.clusters, request.today, request.target)
    diagnostics = generation.diagnostics
    for check in (partial(check_replaced, clusters=request.clusters), check_fresh):
        if not has_errors(diagnostics):
            diagnostics += tuple(check(request.target, generation))
    if has_errors(diagnostics):
        return Rehearsal(generation, diagnostics, {})
    plans = [(site, _plan(site, request, generation)) for site in _sites(generation)]
    built = [find(plan.components, cache_folder()) for _, plan in plans]
    find_redis(cache_folder())
    outcomes = {}
    with alone(cache_folder()):
        for (site, plan), programs in zip(plans, built, strict=True):
            tell(f"{site.name}: starting {len(plan.components.programs)} programs of {site.cluster.release.name}")
            with opened(plan, programs, cache_folder() / "run") as lab:
                if not sample_jobs(site, generation.manifests[site.name], request.team):
                    tell(f"{site.name}: no job of {request.team or 'any team'} to run; what needs one is not tried")
                outcomes[site.name] = tuple(_told(lab, _checks(lab, generation, request.team), tell))
                keep(lab)
            tell(f"{site.name}: starting them once more, with Argo CD {site.cluster.release.versions['argocd']}")
            with opened(plan, programs, cache_folder() / "run") as lab:
                outcomes[site.name] += tuple(_told(lab, _deliver(lab, request), tell))
    return Rehearsal(generation, diagnostics, outcomes)


def _sites(generation: Generation) -> Iterator[Site]:
    platform: Platform | None = generation.checked.platform
    yield from (site for site in (platform.sites if platform else ()) if site.name in generation.manifests)


def _plan(site: Site, request: Request, generation: Generation) -> Plan:
    kinds = {(each.body["apiVersion"], each.body["kind"]) for each in _synced(site, generation.manifests[site.name])}
    return Plan(site, request.target / site.name, read_components(site.cluster.release.name, request.on), kinds)


def _synced(site: Site, manifests: Sequence[Manifest]) -> list[Manifest]:
    """Return what Argo CD would apply: the tree without what others take, and the teams' components."""
    own = (manifest for manifest in manifests if manifest.unit not in UNLISTED)
    return [*own, *component_manifests(site)]


def _told(lab: Lab, outcomes: Iterator[Outcome], tell: Tell) -> Iterator[Outcome]:
    """Pass outcomes on while every process lives: what a dead controller did not do is no finding."""
    for outcome in outcomes:
        lab.processes.check()
        tell(f"{lab.plan.site.name}: {outcome.promise} {outcome.held}/{outcome.tried}")
        yield outcome


def _checks(lab: Lab, generation: Generation, team: str) -> Iterator[Outcome]:
    """Yield what is tried on the tree as it was applied: where there is no team or no job yet, less."""
    site = lab.plan.site
    manifests = generation.manifests[site.name]
    yield from check_acceptance(lab, _synced(site, manifests))
    if every := sample_jobs(site, manifests, ""):
        yield from check_queues(lab)
        yield from check_tenants(lab, every)
        yield from check_tenant_objects(lab, [space for tenant in site.tenants for space in tenant.spaces])
    yield from check_outsiders(lab)
    if samples := sample_jobs(site, manifests, team):
        yield from check_life(lab, samples)
        yield from check_finished(lab, samples)
        yield from check_ledger(lab, samples)
        yield from check_promises(lab, samples)
        yield from check_load(lab, samples)
        yield from check_admission(lab, samples)


def _deliver(lab: Lab, request: Request) -> Iterator[Outcome]:
    """Have Argo CD bring the tree to a cluster without one, from a repository of ours, and then each change."""
    site, folder = lab.plan.site, cache_folder() / "run"
    repository = Repository(folder / "git", site.cluster.settings.branch)
    repository.create()
    argocd = ArgoCD(lab, folder / "argocd", find_redis(cache_folder()))
    copied = shutil.copytree(request.root, folder / "profiles")

    def published() -> Tree:
        return _published(changed(site, copied, request.components_root, request.today), request, repository)

    with argocd.running():
        delivery = Delivery(lab, argocd, repository, _published(site, request, repository))
        if (yield from check_sync(delivery)) and delivery.tree.samples:
            yield from check_meddling(delivery)
            yield from check_changes(delivery, course(site, copied, published))


def _published(site: Site, request: Request, repository: Repository) -> Tree:
    """Return the tree of a cluster as it is taken from another repository."""
    settings = replace(site.cluster.settings, repository=repository.address)
    moved = replace(site, cluster=replace(site.cluster, settings=settings))
    manifests = render_site(moved, request.components_root)
    files = {
        moved.folder(path): content
        for path, content in emit_site(moved, manifests, request.components_root).items()
        if path != LOCKFILE
    }
    files |= _components(moved, request)
    return Tree(moved, files, _synced(moved, manifests), sample_jobs(moved, manifests, ""))


def _components(site: Site, request: Request) -> dict[str, bytes]:
    """Return the hand-written components as they lie beside the tree in the repository."""
    folder = request.target / request.components_root
    within = os.path.normpath(f"{site.cluster.settings.path}/{request.components_root}")
    files = (path for path in folder.rglob("*") if path.is_file())
    return {f"{within}/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in files}


def sample_jobs(site: Site, manifests: Sequence[Manifest], team: str) -> list[tuple[Sample, Manifest]]:
    """Return the sample jobs of teams whose queues are open, with their objects."""
    jobs = {(each.namespace, each.name): each for each in manifests if each.unit == "samples"}
    return [
        (sample, jobs[space.namespace, sample.name])
        for tenant in site.tenants
        if team in {"", tenant.name} and tenant.team.state == "active"
        for space in tenant.spaces
        for sample in space.samples
    ]
