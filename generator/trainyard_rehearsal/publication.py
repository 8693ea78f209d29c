"""Delivery of a cluster's tree by Argo CD from Git, and of each change that is merged to it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace

from trainyard.generation.emission import emit_site
from trainyard.generation.objects import component_manifests
from trainyard.golang import cache_folder
from trainyard.model.manifest import UNLISTED, Manifest
from trainyard.model.platform import Site
from trainyard.model.space import Sample
from trainyard.render.site import render_site
from trainyard.tree.lockfile import LOCKFILE
from trainyard_rehearsal.checks.changes import check_changes
from trainyard_rehearsal.checks.drift import check_drift
from trainyard_rehearsal.checks.git_delivery import GitDelivery, Tree
from trainyard_rehearsal.checks.sampling import TeamSample, with_sample_remark
from trainyard_rehearsal.checks.sync import check_sync
from trainyard_rehearsal.control_plane.argocd import ArgoCD
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.redis import find_redis
from trainyard_rehearsal.control_plane.repository import Repository
from trainyard_rehearsal.maintenance import changed, plan_changes
from trainyard_rehearsal.outcome import Outcome
from trainyard_rehearsal.tasks import Origin


def deliver(lab: Lab, source: Origin, teams: TeamSample) -> Iterator[Outcome]:
    """Deliver the tree by Argo CD to a cluster without one, then each change."""
    site, folder = lab.plan.site, lab.kubeconfig.parent
    left_out = {tenant.name for tenant in site.tenants} - teams.teams
    repository = Repository(folder / "git", site.cluster.settings.branch)
    repository.create()
    argocd = ArgoCD(lab, folder / "argocd", find_redis(cache_folder()))
    copied = shutil.copytree(source.root, folder / "profiles")

    def merged(now: Site) -> Tree:
        tree = _published(now, source, repository)
        samples = [sample for sample in tree.samples if sample[0].space.team.name not in left_out]
        return replace(tree, samples=samples)

    def published() -> Tree:
        return merged(changed(site, copied, source.components_root, source.today))

    with argocd.running():
        delivery = GitDelivery(lab, argocd, repository, merged(site))
        if (yield from check_sync(delivery)) and delivery.tree.samples:
            yield from with_sample_remark(check_drift(delivery, teams.teams), teams)
            yield from with_sample_remark(
                check_changes(delivery, plan_changes(site, copied, published)), teams
            )


def _published(site: Site, source: Origin, repository: Repository) -> Tree:
    """Return the tree of a cluster, delivered from another repository."""
    settings = replace(site.cluster.settings, repository=repository.address)
    moved = replace(site, cluster=replace(site.cluster, settings=settings))
    manifests = render_site(moved, source.components_root)
    emitted = emit_site(moved, manifests, source.components_root)
    files = {moved.folder(path): each for path, each in emitted.items() if path != LOCKFILE}
    files |= _components(moved, source)
    return Tree(moved, files, synced(moved, manifests), sample_jobs(moved, manifests, ""))


def _components(site: Site, source: Origin) -> dict[str, bytes]:
    """Return the hand-written components by their paths in the repository."""
    folder = source.target / source.components_root
    within = os.path.normpath(f"{site.cluster.settings.path}/{source.components_root}")
    files = (path for path in folder.rglob("*") if path.is_file())
    return {f"{within}/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in files}


def synced(site: Site, manifests: Sequence[Manifest]) -> list[Manifest]:
    """Return the objects that Argo CD applies: those of synced units, and teams' components."""
    own = (manifest for manifest in manifests if manifest.unit not in UNLISTED)
    return [*own, *component_manifests(site)]


def sample_jobs(
    site: Site, manifests: Sequence[Manifest], team: str
) -> list[tuple[Sample, Manifest]]:
    """Return the sample jobs of active teams, or of one of them, with their objects."""
    jobs = {
        (manifest.namespace, manifest.name): manifest
        for manifest in manifests
        if manifest.unit == "samples"
    }
    found: list[tuple[Sample, Manifest]] = []
    for tenant in site.tenants:
        if team in {"", tenant.name} and tenant.team.state == "active":
            for space in tenant.spaces:
                found += [(sample, jobs[space.namespace, sample.name]) for sample in space.samples]
    return found
