"""A control plane on which one tree stands after the other, whatever the rules say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from tests.rules.cases import HERE, platform_of, read_case
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Platform, Site
from trainyard.model.space import Space
from trainyard.render.site import render_site
from trainyard.render.unit import health_checks
from trainyard.workflows.generate import component_manifests
from trainyard.yaml_io.emitter import emit
from trainyard_rehearsal.checks.acceptance import in_order
from trainyard_rehearsal.checks.jobs import TRAINER, Job, as_user, changed, named
from trainyard_rehearsal.control_plane.api import Api, Body, Refused
from trainyard_rehearsal.control_plane.argocd import ArgoCD
from trainyard_rehearsal.control_plane.build import cache_folder, find
from trainyard_rehearsal.control_plane.components import read_components
from trainyard_rehearsal.control_plane.lab import Lab, Plan, opened
from trainyard_rehearsal.control_plane.nodes import nodes
from trainyard_rehearsal.control_plane.redis import find_redis
from trainyard_rehearsal.control_plane.repository import Repository

CLUSTER = "prod-east"
_FILE = f"clusters/{CLUSTER}.yaml"
_PATIENCE = 120.0
"""Seconds for what takes a few: a busy machine is no failure."""
_NOT_SYNCED = ("argocd/", "node-files/", "operators/", "samples/")
_KUEUE = "kueue.x-k8s.io/"
_STAYS = ("Namespace", "PersistentVolume")
"""Go slowly, and nothing of them is in anybody's way."""

Identity = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """What a control plane is started with: the release, and what Kueue reads when it starts.

    Compared by identity: pytest keeps a fixture for the tests after this one only where its
    parameter has a hash.

    Args:
        settings: of the cluster, over those of the cases' base.
        argocd: whether Argo CD runs too.
        kueue: release whose Kueue runs, where it is another one.
    """

    name: str
    settings: Mapping[str, Any]
    argocd: bool = False
    kueue: str = ""

    def under(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return changes of the cases' base on this ground."""
        return {**changes, _FILE: {**self.settings, **changes.get(_FILE, {})}}


NEW = Ground("kueue-0.19.2", {"release": "kubernetes-1.36", "sharing": "classical"})
FAIR = Ground("kueue-0.19.2-fair", {"release": "kubernetes-1.36"})
BLIND = Ground(
    "kueue-0.19.2-blind", {"release": "kubernetes-1.36", "frameworks": ["BatchJob", "JobSet"]}
)
GITOPS = Ground("argocd-3.5.7", {"release": "kubernetes-1.36", "sharing": "classical"}, argocd=True)
OLD = Ground("kueue-0.16.2", {"release": "openshift-ai-3.5", "sharing": "classical"})

PAIR = Ground("kueue-0.19.2-trainer-2.1.0", OLD.settings, kueue="kubernetes-1.36")


def bad(rule: str, **more: Any) -> dict[str, Any]:
    """Return what the bad case of a rule changes, and more."""
    changes, _ = read_case(HERE / rule / "bad.yaml")
    result: dict[str, Any] = over(changes, more)
    return result


def over(changes: Any, more: Any) -> Any:
    """Return changes after further ones: what one of them removes is still to be removed."""
    if not isinstance(changes, dict) or not isinstance(more, dict):
        return more
    return {**changes, **{key: over(changes.get(key), value) for key, value in more.items()}}


@contextmanager
def stage(ground: Ground, folder: Path) -> Iterator[Stage]:
    """Start a control plane.

    Args:
        ground: what it is started with.
        folder: for the files that its controllers read.
    """
    (site,) = platform_of(ground.under({})).sites
    manifests = render_site(site)
    fragment, checks = health_checks(site)
    read = {each.path: each.body for each in manifests if each.unit == "operators"} | {
        f"{fragment}.yaml": checks
    }
    for path, body in read.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(emit(body))
    components = read_components(site.cluster.release.name)
    if ground.kueue:
        kueue = read_components(ground.kueue).programs["kueue"]
        components = replace(components, programs={**components.programs, "kueue": kueue})
    synced = (each.body for each in manifests if not each.path.startswith(_NOT_SYNCED))
    kinds = {(body["apiVersion"], body["kind"]) for body in synced}
    plan = Plan(site, folder, components, kinds)
    run = cache_folder() / "run"
    with ExitStack() as stack:
        lab = stack.enter_context(opened(plan, find(components, cache_folder()), run))
        found = Stage(ground, lab, Repository(run / "git", site.cluster.settings.branch))
        if ground.argocd:
            found.repository.create()
            found.argocd = ArgoCD(lab, run / "argocd", find_redis(cache_folder()))
            stack.enter_context(found.argocd.running())
        yield found


@dataclass(slots=True, eq=False)
class Stage:
    """A control plane, and what stands on it now.

    Args:
        repository: that Argo CD takes a tree from, where it runs.
    """

    ground: Ground
    lab: Lab
    repository: Repository
    argocd: ArgoCD | None = None
    standing: dict[Identity, Body] = field(default_factory=dict)

    @property
    def api(self) -> Api:
        """The API as the administrator sees it."""
        return self.lab.api

    def log(self, program: str) -> str:
        """Return what a program has logged."""
        return (cache_folder() / "run/logs" / f"{program}.log").read_text(encoding="utf-8")

    def until(self, ready: Callable[[], bool], seconds: float = _PATIENCE) -> bool:
        """Wait for something; tell whether it came."""
        return self.lab.processes.waited(ready, seconds)

    def pass_a_second(self) -> None:
        """Have what comes next be newer: Kueue compares whole seconds, and of equals takes any."""
        self.until(lambda: False, 1)

    def moved(self, changes: Mapping[str, Any]) -> Site:
        """Return the cluster of the base after some changes, delivered from the repository of this
        run."""
        site = next(
            each for each in platform_of(self.ground.under(changes)).sites if each.name == CLUSTER
        )
        settings = replace(site.cluster.settings, repository=self.repository.address)
        return replace(site, cluster=replace(site.cluster, settings=settings))

    def stand(self, changes: Mapping[str, Any]) -> Scene:
        """Replace what stands by the tree of the base after some changes; what is refused is told,
        not raised."""
        platform = platform_of(self.ground.under(changes))
        site = next(each for each in platform.sites if each.name == CLUSTER)
        manifests = (*render_site(site), *component_manifests(site))
        synced = in_order(each for each in manifests if not each.path.startswith(_NOT_SYNCED))
        wanted = {_identity(body): body for body in (*nodes(site), *(each.body for each in synced))}
        self._clear(wanted)
        scene = Scene(self, platform, site, manifests)
        for identity, body in wanted.items():
            if self.standing.get(identity) != body:
                self._apply(scene, identity, body)
        return scene

    def _apply(self, scene: Scene, identity: Identity, body: Body) -> None:
        try:
            self.api.apply(body)
        except Refused as refused:
            scene.refused[f"{body['kind']}/{body['metadata']['name']}"] = str(refused)
        else:
            self.standing[identity] = body

    def _clear(self, wanted: Mapping[Identity, Body]) -> None:
        """End every job, then take away what is not wanted as it stands; queues always begin
        anew."""
        self._end_jobs()
        doomed = [
            identity
            for identity, body in self.standing.items()
            if body["kind"] not in _STAYS
            and (body != wanted.get(identity) or identity[0].startswith(_KUEUE))
        ]
        for identity in reversed(doomed):
            del self.standing[identity]
            self.delete(*identity)
        gone = [partial(self.is_gone, *identity) for identity in doomed]
        assert self.until(lambda: all(each() for each in gone)), [
            each for each in doomed if not self.is_gone(*each)
        ]
        self._drop_used_volumes()

    def _drop_used_volumes(self) -> None:
        """Delete each volume whose claim is gone: Kubernetes binds no other claim to it, not even
        one of that name."""
        claims = {each["metadata"]["uid"] for each in self.api.list("v1", "PersistentVolumeClaim")}
        used = [
            _identity(each)
            for each in self.api.list("v1", "PersistentVolume")
            if each["spec"].get("claimRef", {}).get("uid", "") not in {"", *claims}
        ]
        for identity in used:
            self.standing.pop(identity, None)
            self.delete(*identity)
        assert self.until(lambda: all(self.is_gone(*each) for each in used)), used

    def _end_jobs(self) -> None:
        for kind, version in {
            "TrainJob": TRAINER,
            "Workload": "kueue.x-k8s.io/v1beta2",
            "Pod": "v1",
        }.items():
            if kind != "Workload":
                for body in self.api.list(version, kind):
                    self.delete(*_identity(body))
            assert self.until(partial(self._is_empty, version, kind)), kind

    def _is_empty(self, version: str, kind: str) -> bool:
        return not self.api.list(version, kind)

    def forget(self, kind: str, name: str) -> None:
        """Take an object away that stands, so that the next tree brings it again."""
        ((identity, body),) = (
            each for each in self.standing.items() if (each[0][1], each[0][3]) == (kind, name)
        )
        self.standing[identity] = {"kind": body["kind"]}
        self.delete(*identity)

    def delete(self, version: str, kind: str, namespace: str, name: str) -> None:
        """Delete an object, if it is there."""
        metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
        try:
            self.api.delete({"apiVersion": version, "kind": kind, "metadata": metadata})
        except Refused as refused:
            if refused.status != 404:
                raise

    def is_gone(self, version: str, kind: str, namespace: str, name: str) -> bool:
        """Tell whether an object is not there."""
        return not self.api.find(version, kind, name, namespace)


@dataclass(slots=True)
class Scene:
    """A tree that stands, and what its users do.

    Args:
        refused: the API server's words by kind and name of what it did not take.
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
        """Return a job as a team's user writes it, from a sample; labels by their last word."""
        self.submitted += 1
        namespace = f"team-{team}"
        samples = [
            each.body
            for each in self.manifests
            if each.unit == "samples" and each.body["kind"] == "TrainJob"
        ]
        sample = next(
            (each for each in samples if each["metadata"]["namespace"] == namespace), samples[0]
        )
        body = changed(named(sample, f"{team}-{self.submitted}"), numNodes=nodes)
        body["spec"] = {
            k: v
            for k, v in body["spec"].items()
            if k not in {"runtimePatches", "podTemplateOverrides"}
        }
        said = {f"{_KUEUE}{key.replace('_', '-')}": value for key, value in labels.items()}
        metadata = {
            **body["metadata"],
            "namespace": namespace,
            "labels": {**body["metadata"]["labels"], **said},
        }
        return {**body, "metadata": metadata}

    def submit(self, team: str, nodes: int, **labels: str) -> Job:
        """Submit a job as a user of the team; what the platform still reads is waited for."""
        return self.create(team, self.body(team, nodes, **labels))

    def create(self, team: str, body: Body) -> Job:
        """Create a job as a user of the team."""
        user = as_user(self.api, self.space(f"team-{team}"))
        said: list[str] = []
        assert self.stage.until(lambda: _created(user, body, said)), said[-1]
        return Job(self.api, f"team-{team}", body["metadata"]["name"])

    def denied(self, team: str, body: Body, words: str) -> bool:
        """Tell whether a user's job is refused in these words."""
        user = as_user(self.api, self.space(f"team-{team}"))
        said = [""]
        refused = self.stage.until(
            lambda: not _created(user, body, said, dry_run=True) and words in said[-1]
        )
        assert refused, said[-1]
        return True

    def runs(self, job: Job) -> bool:
        """Tell whether a job is admitted in time."""
        assert self.stage.until(lambda: job.is_admitted), job.waits_because
        return True

    def waits(self, job: Job, *words: str) -> bool:
        """Tell whether a job waits, in these words."""
        assert self.stage.until(lambda: all(each in job.waits_because for each in words)), (
            job.waits_because
        )
        # Kueue says so too of a flavor that it goes past a moment later.
        assert not self.stage.until(lambda: job.is_admitted, 1), job.waits_because
        return True

    def is_evicted(self, job: Job, *words: str) -> bool:
        """Tell whether a job that ran is stopped, in these words."""
        said = ("Evicted=True", *words)
        assert self.stage.until(lambda: all(each in job.waits_because for each in said)), (
            job.waits_because
        )
        return self.stage.until(lambda: not job.is_admitted)

    def flavors(self, job: Job) -> set[str]:
        """Return the flavors that an admitted job has."""
        assignments = job.workload["status"]["admission"]["podSetAssignments"]
        return {flavor for each in assignments for flavor in each.get("flavors", {}).values()}


def _created(user: Api, body: Body, said: list[str], *, dry_run: bool = False) -> bool:
    try:
        user.create(body, dry_run=dry_run)
    except Refused as refused:
        said.append(str(refused))
        return False
    return True


def _identity(body: Body) -> Identity:
    metadata = body["metadata"]
    return body["apiVersion"], body["kind"], metadata.get("namespace", ""), metadata["name"]
