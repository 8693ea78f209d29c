"""A control plane to which one tree after the other is applied, whatever the rules find in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from tests.e2e import mpi_operator
from tests.e2e.engines import pytorch_jobs
from tests.e2e.objects import KUEUE, AppliedObjects, Identity, identity_of, messages
from tests.e2e.setup import CLUSTER, FILE, Setup
from tests.rules.cases import platform_of
from trainyard.generation.objects import component_manifests
from trainyard.golang import cache_folder
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Platform, Site
from trainyard.model.space import Space
from trainyard.render.site import render_site
from trainyard.render.unit import health_checks
from trainyard.render.views.site import SiteView
from trainyard.yaml_io.emitter import emit
from trainyard_rehearsal.checks.acceptance import in_sync_order
from trainyard_rehearsal.checks.jobs import (
    Job,
    as_user,
    conditions,
    with_name,
    with_trainer,
)
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.argocd import ArgoCD
from trainyard_rehearsal.control_plane.build import find
from trainyard_rehearsal.control_plane.components import Components, queueing, read_components
from trainyard_rehearsal.control_plane.lab import AUDIT_POLICY, Lab, Plan, opened
from trainyard_rehearsal.control_plane.nodes import nodes
from trainyard_rehearsal.control_plane.redis import find_redis
from trainyard_rehearsal.control_plane.refusal import Refused
from trainyard_rehearsal.control_plane.repository import Repository

_NOT_SYNCED = ("argocd/", "node-files/", "operators/", "samples/")
_QUEUE = f"{KUEUE}queue-name"
_PATCHES = {"runtimePatches", "podTemplateOverrides"}


@contextmanager
def started(setup: Setup, folder: Path) -> Iterator[Stage]:
    """Start a control plane.

    Args:
        setup: what it is started with.
        folder: for the files that its controllers read.
    """
    (site,) = platform_of(setup.with_settings({})).sites
    manifests = render_site(site)
    _write_files(site, manifests, folder)
    if setup.audit:
        _write_audit_policy(setup, folder)
    components = _components(site, setup)
    synced = (each.body for each in manifests if not each.path.startswith(_NOT_SYNCED))
    kinds = {(body["apiVersion"], body["kind"]) for body in synced}
    plan = Plan(site, folder, components, kinds)
    run = cache_folder() / "run"
    built = find(components, cache_folder())
    built = replace(built, crds=(*built.crds, *_more_kinds(setup, folder)))
    with ExitStack() as stack:
        lab = stack.enter_context(opened(plan, built, run))
        if setup.mpi_operator:
            mpi_operator.start(lab)
        stage = Stage(lab, setup, Repository(run / "git", site.cluster.settings.branch))
        if setup.argocd:
            stage.repository.create()
            stage.argocd = ArgoCD(lab, run / "argocd", find_redis(cache_folder()))
            stack.enter_context(stage.argocd.running())
        yield stage


def _more_kinds(setup: Setup, folder: Path) -> Iterator[Path]:
    """Yield CRDs of operators that are not the release's."""
    if setup.mpi_operator or setup.kinds:
        yield mpi_operator.crd(folder)
    if setup.kinds:
        yield pytorch_jobs()


def _write_files(site: Site, manifests: tuple[Manifest, ...], folder: Path) -> None:
    """Write the files of a tree that controllers read."""
    fragment, checks = health_checks(site)
    bodies = {each.path: each.body for each in manifests if each.unit == "operators"}
    for path, body in {**bodies, f"{fragment}.yaml": checks}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(emit(body))


def _write_audit_policy(setup: Setup, folder: Path) -> None:
    """Write the audit policy of another release, for an API server whose own has none."""
    (site,) = platform_of(setup.with_settings({FILE: {"release": setup.audit}})).sites
    (policy,) = (each.body for each in render_site(site) if each.path == AUDIT_POLICY)
    (folder / AUDIT_POLICY).parent.mkdir(parents=True, exist_ok=True)
    (folder / AUDIT_POLICY).write_bytes(emit(policy))


def _components(site: Site, setup: Setup) -> Components:
    """Return the components of a cluster's release, with another release's Kueue if wanted."""
    components = queueing(
        read_components(site.cluster.release.name), SiteView(site).framework_names
    )
    if not setup.kueue:
        return components
    kueue = read_components(setup.kueue).programs["kueue"]
    return replace(components, programs={**components.programs, "kueue": kueue})


@dataclass(slots=True, eq=False)
class Stage(AppliedObjects):
    """A control plane, and the tree that is applied to it now.

    Args:
        repository: that Argo CD takes a tree from, where it runs.
    """

    setup: Setup
    repository: Repository
    argocd: ArgoCD | None = None

    def moved(self, changes: Mapping[str, Any]) -> Site:
        """Return the cluster of the changed base, delivered from the repository of this run."""
        site = _cluster(platform_of(self.setup.with_settings(changes)))
        settings = replace(site.cluster.settings, repository=self.repository.address)
        return replace(site, cluster=replace(site.cluster, settings=settings))

    def scene(self, changes: Mapping[str, Any]) -> Scene:
        """Return the tree of the changed base, which is not applied."""
        platform = platform_of(self.setup.with_settings(changes))
        site = _cluster(platform)
        return Scene(self, platform, site, (*render_site(site), *component_manifests(site)))

    def deploy(self, changes: Mapping[str, Any]) -> Scene:
        """Replace what is applied by the tree of the changed base.

        Refusals are recorded in the scene, not raised.
        """
        scene = self.scene(changes)
        found = (each for each in scene.manifests if not each.path.startswith(_NOT_SYNCED))
        bodies = [*nodes(scene.site), *(each.body for each in in_sync_order(found))]
        wanted = {identity_of(body): body for body in bodies}
        self.clear(wanted)
        for identity, body in wanted.items():
            if self.applied.get(identity) != body:
                self._apply(scene, identity, body)
        return scene

    def _apply(self, scene: Scene, identity: Identity, body: Body) -> None:
        try:
            self.api.apply(body)
        except Refused as refused:
            scene.refused[f"{body['kind']}/{body['metadata']['name']}"] = str(refused)
        else:
            self.applied[identity] = body


def _cluster(platform: Platform) -> Site:
    return next(each for each in platform.sites if each.name == CLUSTER)


@dataclass(slots=True)
class Scene:
    """An applied tree, and what its users do.

    Args:
        refused: the API server's words by kind and name of each object that it refused.
    """

    stage: Stage
    platform: Platform
    site: Site
    manifests: tuple[Manifest, ...]
    refused: dict[str, str] = field(default_factory=dict)
    submitted: int = 0

    @property
    def api(self) -> Api:
        """The API as the administrator sees it."""
        return self.stage.api

    @property
    def lab(self) -> Lab:
        """The control plane with this cluster on it."""
        return replace(self.stage.lab, plan=replace(self.stage.lab.plan, site=self.site))

    def space(self, namespace: str) -> Space:
        """Return a team's namespace."""
        spaces = (space for tenant in self.site.tenants for space in tenant.spaces)
        return next(space for space in spaces if space.namespace == namespace)

    def body(self, team: str, nodes: int, **labels: str) -> Body:
        """Return a job as a team's user writes it, from a sample.

        Args:
            team: name of the team.
            nodes: number of nodes.
            labels: Kueue's labels, by their last word.
        """
        self.submitted += 1
        namespace = f"team-{team}"
        sample = self._sample(namespace)
        body = with_trainer(with_name(sample, f"{team}-{self.submitted}"), numNodes=nodes)
        body["spec"] = {key: value for key, value in body["spec"].items() if key not in _PATCHES}
        of_kueue = {f"{KUEUE}{key.replace('_', '-')}": value for key, value in labels.items()}
        metadata = {
            **body["metadata"],
            "namespace": namespace,
            "labels": {**body["metadata"].get("labels", {}), **of_kueue},
        }
        return {**body, "metadata": metadata}

    def _sample(self, namespace: str) -> Body:
        """Return a sample job of a namespace, else the first of any."""
        samples = [
            each.body
            for each in self.manifests
            if each.unit == "samples" and each.body["kind"] == "TrainJob"
        ]
        own = (each for each in samples if each["metadata"]["namespace"] == namespace)
        return next(own, samples[0])

    def submit(self, team: str, nodes: int, **labels: str) -> Job:
        """Submit a job as a user of the team, as soon as the platform accepts it."""
        return self.create(team, self.body(team, nodes, **labels))

    def create(self, team: str, body: Body) -> Job:
        """Create a job as a user of the team."""
        if _QUEUE not in body["metadata"].get("labels", {}):
            assert self.queues_are_known(team)
        user = as_user(self.api, self.space(f"team-{team}"))
        refusals: list[str] = []
        assert self.stage.until(lambda: _created(user, body, refusals)), refusals[-1]
        return Job(self.api, f"team-{team}", body["metadata"]["name"])

    def queues_are_known(self, team: str) -> bool:
        """Return whether Kueue knows the queues of a team in time.

        It gives a job without the label of a queue only one that it knows by then, and none later.
        """
        local_queues = partial(self.api.list, f"{KUEUE}v1beta2", "LocalQueue", f"team-{team}")
        return self.stage.until(lambda: all(any(conditions(each)) for each in local_queues()))

    def denied(self, team: str, body: Body, words: str) -> bool:
        """Return whether a user's job is refused in these words."""
        user = as_user(self.api, self.space(f"team-{team}"))
        refusals = [""]
        refused = self.stage.until(
            lambda: not _created(user, body, refusals, dry_run=True) and words in refusals[-1]
        )
        assert refused, refusals[-1]
        return True

    def runs(self, *jobs: Job) -> bool:
        """Return whether each of some jobs is admitted in time."""
        for job in jobs:
            assert self.stage.until(partial(getattr, job, "is_admitted")), job.waiting_reason
        return True

    def pods_show(self, words: str, *jobs: Job) -> bool:
        """Return whether a pod of some jobs shows words in its conditions in time."""

        def is_shown() -> bool:
            pods = [pod for job in jobs for pod in job.pods]
            return any(words in messages(pod.body) for pod in pods)

        return self.stage.until(is_shown)

    def waits(self, job: Job, *words: str) -> bool:
        """Return whether a job waits, in these words."""
        assert self.stage.until(lambda: all(each in job.waiting_reason for each in words)), (
            job.waiting_reason
        )
        # Kueue reports the same of a flavor that it passes over a moment later.
        assert not self.stage.until(lambda: job.is_admitted, 1), job.waiting_reason
        return True

    def is_evicted(self, job: Job, *words: str) -> bool:
        """Return whether a running job is evicted, in these words."""
        expected = ("Evicted=True", *words)
        assert self.stage.until(lambda: all(each in job.waiting_reason for each in expected)), (
            job.waiting_reason
        )
        return self.stage.until(lambda: not job.is_admitted)

    def flavors(self, job: Job) -> set[str]:
        """Return the flavors of an admitted job."""
        assignments = job.workload["status"]["admission"]["podSetAssignments"]
        return {flavor for each in assignments for flavor in each.get("flavors", {}).values()}


def _created(user: Api, body: Body, refusals: list[str], *, dry_run: bool = False) -> bool:
    """Create an object, or record the refusal; return whether it was created."""
    try:
        user.create(body, dry_run=dry_run)
    except Refused as refused:
        refusals.append(str(refused))
        return False
    return True
