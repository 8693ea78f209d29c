"""Whether Argo CD brings the tree to an empty cluster from Git, and keeps it there."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import PurePosixPath

from generator.model.manifest import Manifest
from generator.model.space import Sample
from generator.rehearse.acceptance import in_order, meaning
from generator.rehearse.api import Body, Refused
from generator.rehearse.argocd import ArgoCD
from generator.rehearse.jobs import Job, submit
from generator.rehearse.lab import Lab
from generator.rehearse.outcome import Failure, Outcome, counted
from generator.rehearse.repository import Repository
from generator.rehearse.stand_ins import settle

_ARGO = "argoproj.io/v1alpha1"
_SECRETS = "external-secrets.io/v1"
_OWNED = "argocd.argoproj.io/tracking-id"
_REFRESH = "argocd.argoproj.io/refresh"
_REFRESH_SET = "argocd.argoproj.io/application-set-refresh"
_FIRST = 240.0
_PATIENCE = 90.0
"""Seconds for what takes less than thirty; the first sync goes through all waves."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A tree in Git, and Argo CD that takes it from there.

    Args:
        files: of the repository, by path in it.
        manifests: what Argo CD shall apply.
    """

    lab: Lab
    argocd: ArgoCD
    repository: Repository
    files: Mapping[str, bytes]
    manifests: Sequence[Manifest]

    @property
    def names(self) -> list[str]:
        """All Applications that there shall be."""
        site = self.lab.plan.site
        parts = ["argocd", "platform", *(f"team-{tenant.name}" for tenant in site.tenants)]
        return [site.part(part) for part in parts]

    def path(self, manifest: Manifest) -> str:
        """Return the file of an object in the repository."""
        return self.lab.plan.site.folder(manifest.path)

    def application(self, name: str) -> Body:
        """Return an Application; empty when there is none yet."""
        try:
            return self.lab.api.get(_ARGO, "Application", name, self.argocd.namespace)
        except Refused as refused:
            if refused.status != 404:
                raise
            return {}

    def refresh(self, how: str = "normal") -> None:
        """Have Argo CD look at Git now; it would within three minutes."""
        for kind, annotation in (("ApplicationSet", {_REFRESH_SET: "true"}), ("Application", {_REFRESH: how})):
            for body in self.lab.api.list(_ARGO, kind, self.argocd.namespace):
                self.lab.api.patch(body, {"metadata": {"annotations": annotation}})

    def is_refreshed(self) -> bool:
        """Tell whether Argo CD has looked."""
        bodies = self.lab.api.list(_ARGO, "Application", self.argocd.namespace)
        return not any(_REFRESH in body["metadata"].get("annotations", {}) for body in bodies)

    def waited(self, ready: Callable[[], bool], seconds: float = _PATIENCE) -> bool:
        """Wait for something, while what others' controllers would say of their objects is said for them."""

        def looked() -> bool:
            self._stand_in()
            return ready()

        return self.lab.processes.waited(looked, seconds)

    def settled(self, revision: str, seconds: float = _PATIENCE) -> list[Failure]:
        """Wait until every Application is Synced with a revision and Healthy; return those that are not."""
        self.refresh()
        self.waited(lambda: all(_fine(self.application(name), revision) for name in self.names), seconds)
        at = self.lab.plan.site.cluster.at
        bodies = {name: self.application(name) for name in self.names}
        return [Failure(name, _told(body), at) for name, body in bodies.items() if not _fine(body, revision)]

    def _stand_in(self) -> None:
        """Say what the External Secrets Operator says of a secret that it has written."""
        ready = {"type": "Ready", "status": "True", "reason": "SecretSynced", "message": "stands in"}
        for body in self.lab.api.list(_SECRETS, "ExternalSecret"):
            if not body.get("status"):
                self.lab.api.patch(body, {"status": {"conditions": [ready]}}, "status")


def check_delivery(delivery: Delivery, samples: Sequence[tuple[Sample, Manifest]]) -> Iterator[Outcome]:
    """Publish the tree, apply its ``argocd/`` by hand and nothing else; then look at Argo CD's work.

    Args:
        delivery: to a control plane without a tree.
        samples: jobs, of which a user runs one meanwhile.
    """
    yield _moved(delivery)
    revision = delivery.repository.commit(delivery.files)
    by_hand = [manifest for manifest in in_order(delivery.manifests) if manifest.unit == "argocd"]
    began = time.monotonic()
    for manifest in by_hand:
        delivery.lab.api.apply(manifest.body, delivery.files[delivery.path(manifest)], manager="kubectl")
    failures = delivery.settled(revision, _FIRST)
    remark = f"in {time.monotonic() - began:.0f} s; ExternalSecrets are said to be ready by us"
    yield counted("applications synced and healthy", len(delivery.names), failures, remark)
    if failures:
        return
    settle(delivery.lab)
    yield _refreshed(delivery)
    jobs = {submit(delivery.lab.api, each.body, sample.space): each.at for sample, each in samples[:1]}
    delivery.waited(lambda: all(job.is_admitted for job in jobs))
    before = {job: _identity(job) for job in jobs}
    yield _healed(delivery)
    yield _degraded(delivery)
    yield _kept(delivery)
    yield _regenerated(delivery)
    changed = {job: _identity(job) for job in jobs if _identity(job) != before[job]}
    failures = [Failure(job.name, f"{before[job]} became {now}", jobs[job]) for job, now in changed.items()]
    yield counted("a user's job left alone", len(jobs), failures)


def _identity(job: Job) -> tuple[str, int, bool, list[str]]:
    """Return what would be different if somebody had made a job, or its pods, again."""
    metadata = job.body["metadata"]
    pods = [pod.body["metadata"]["uid"] for pod in job.pods]
    return (
        metadata["uid"],
        metadata["generation"],
        "annotations" in metadata and _OWNED in metadata["annotations"],
        pods,
    )


def _refreshed(delivery: Delivery) -> Outcome:
    """Have Argo CD forget what it knows and compare again."""
    before = {manifest.path: meaning(delivery.lab, manifest) for manifest in delivery.manifests}
    delivery.refresh("hard")
    delivery.waited(delivery.is_refreshed)
    failures = [
        Failure(manifest.path, "is another after a refresh", manifest.at)
        for manifest in delivery.manifests
        if _content(meaning(delivery.lab, manifest)) != _content(before[manifest.path])
    ]
    return counted("refresh changes nothing", len(delivery.manifests), failures)


def _content(body: Body) -> Body:
    return {field: value for field, value in body.items() if field != "metadata"}


def _healed(delivery: Delivery) -> Outcome:
    """Change objects by hand: every default deny opened, every queue held, every role given to a stranger."""
    lab, drifts = delivery.lab, list(_drifts(delivery.manifests))
    before = {manifest.path: _content(meaning(lab, manifest)) for manifest, _ in drifts}
    for manifest, change in drifts:
        lab.api.patch(manifest.body, change)

    def is_back(manifest: Manifest) -> bool:
        return _content(meaning(lab, manifest)) == before[manifest.path]

    delivery.waited(lambda: all(is_back(manifest) for manifest, _ in drifts))
    failures = [
        Failure(manifest.path, f"stays as somebody made it: {change}", manifest.at)
        for manifest, change in drifts
        if not is_back(manifest)
    ]
    return counted("drift reverted", len(drifts), failures)


def _drifts(manifests: Sequence[Manifest]) -> Iterator[tuple[Manifest, Body]]:
    stranger = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "stranger"}
    # Without the rights that argocd/ gives it, Argo CD can heal nothing, and those too are an administrator's to give.
    for manifest in (each for each in manifests if each.unit != "argocd"):
        match manifest.kind.name, manifest.name:
            case "NetworkPolicy", "default-deny":
                yield manifest, {"spec": {"ingress": [{}], "egress": [{}]}}
            case "ClusterQueue", _:
                yield manifest, {"spec": {"stopPolicy": "Hold"}}
            case "RoleBinding" | "ClusterRoleBinding", _:
                yield manifest, {"subjects": [stranger]}


def _degraded(delivery: Delivery) -> Outcome:
    """Take the flavor away from each queue in Git, and look whether its Application says so; then put it back."""
    queues = [manifest for manifest in delivery.manifests if _is_open(manifest)]
    delivery.repository.commit({delivery.path(queue): _without_flavor(queue) for queue in queues})
    delivery.refresh()
    name = delivery.lab.plan.site.part("platform")

    def said() -> dict[str, str]:
        resources = delivery.application(name).get("status", {}).get("resources", [])
        found = {each["name"]: each.get("health", {}) for each in resources if each["kind"] == "ClusterQueue"}
        return {queue: f"{health.get('status')} {health.get('message')}" for queue, health in found.items()}

    def is_told(queue: Manifest, words: Mapping[str, str]) -> bool:
        return "Degraded FlavorNotFound" in words[queue.name]

    delivery.waited(lambda: all(is_told(queue, said()) for queue in queues))
    words = said()
    failures = [Failure(queue.path, words[queue.name], queue.at) for queue in queues if not is_told(queue, words)]
    failures += delivery.settled(
        delivery.repository.commit({path: delivery.files[path] for path in map(delivery.path, queues)})
    )
    return counted("queues without flavor degraded", len(queues), failures)


def _is_open(manifest: Manifest) -> bool:
    """Tell a queue that takes jobs: one that was stopped on purpose is Suspended, whatever it lacks."""
    return manifest.kind.name == "ClusterQueue" and manifest.body["spec"]["stopPolicy"] == "None"


def _without_flavor(queue: Manifest) -> bytes:
    body = deepcopy(queue.body)
    body["spec"]["resourceGroups"][0]["flavors"][0]["name"] = "gone"
    return json.dumps(body).encode()


def _kept(delivery: Delivery) -> Outcome:
    """Remove the folder of a team from Git, and look for its objects; then put it back."""
    lab = delivery.lab
    team = lab.plan.site.tenants[-1].name
    unit, name = f"teams/{team}", lab.plan.site.part(f"team-{team}")
    own = [manifest for manifest in delivery.manifests if manifest.unit == unit]
    before = {manifest.path: _content(meaning(lab, manifest)) for manifest in own}
    folder = lab.plan.site.folder(f"{unit}/")
    files = {path: content for path, content in delivery.files.items() if path.startswith(folder)}
    delivery.repository.commit(dict.fromkeys(files))
    delivery.refresh()
    failures = []
    if not delivery.waited(lambda: "app path does not exist" in _told(delivery.application(name))):
        failures.append(Failure(name, _told(delivery.application(name)), lab.plan.site.cluster.at))
    failures += [
        Failure(manifest.path, "is another without its folder", manifest.at)
        for manifest in own
        if _content(meaning(lab, manifest)) != before[manifest.path]
    ]
    failures += delivery.settled(delivery.repository.commit(files))
    return counted("objects kept without their folder", len(own), failures, f"of team {team}")


def _regenerated(delivery: Delivery) -> Outcome:
    """Change an object of one team, and count which folders kustomize is run for."""
    manifest = next(each for each in delivery.manifests if each.kind.name == "LimitRange")
    annotations = {**manifest.body["metadata"].get("annotations", {}), "rehearsal": "changed"}
    body = {**manifest.body, "metadata": {**manifest.body["metadata"], "annotations": annotations}}
    before = len(delivery.argocd.builds)
    failures = delivery.settled(delivery.repository.commit({delivery.path(manifest): json.dumps(body).encode()}))
    builds = [path.rpartition(delivery.lab.plan.site.folder(""))[2] for path in delivery.argocd.builds[before:]]
    if builds != [manifest.unit]:
        failures.append(Failure(manifest.path, f"kustomize was run for {builds}", manifest.at))
    return counted("one change, one generation", 1, failures)


def _moved(delivery: Delivery) -> Outcome:
    """Compare the files with the committed ones: another repository's address is all that may differ."""
    site, tree = delivery.lab.plan.site, delivery.lab.plan.tree
    address, own = site.cluster.settings.repository.encode(), delivery.repository.address.encode()
    root = PurePosixPath(site.folder(""))
    ours = {PurePosixPath(path): content for path, content in delivery.files.items()}
    ours = {path.relative_to(root): content for path, content in ours.items() if path.is_relative_to(root)}
    committed = {path: (tree / path).read_bytes() for path in ours}
    failures = [
        Failure(str(path), "differs from the committed file in more than that", site.cluster.at)
        for path, content in ours.items()
        if content != committed[path].replace(address, own)
    ]
    count = sum(content != committed[path] for path, content in ours.items())
    return counted("files as committed", len(ours), failures, f"{count} with the address of a repository of ours")


def _fine(body: Body, revision: str) -> bool:
    status = body.get("status") or {}
    sync, health = status.get("sync", {}), status.get("health", {})
    done = status.get("operationState", {}).get("phase") == "Succeeded"
    said = (sync.get("status"), sync.get("revision"), health.get("status"))
    return bool(done and said == ("Synced", revision, "Healthy"))


def _told(body: Body) -> str:
    """Return what an Application says of itself."""
    if not body:
        return "is not there"
    status = body.get("status") or {}
    said = [status.get("sync", {}).get("status", "no sync"), status.get("health", {}).get("status", "no health")]
    said += [str(each.get("message", "")) for each in status.get("conditions", [])]
    said.append(str(status.get("operationState", {}).get("message", "")))
    for each in status.get("resources", []):
        health = each.get("health", {})
        if each.get("status") != "Synced" or health.get("status", "Healthy") != "Healthy":
            name = f"{each['kind']} {each.get('namespace', '')}/{each['name']}"
            said.append(f"{name}: {each.get('status')} {health.get('status', '')} {health.get('message', '')}")
    return "; ".join(filter(None, said))
