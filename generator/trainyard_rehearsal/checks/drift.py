"""Check what Argo CD does after manual changes to the cluster, and after losses in Git."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from copy import deepcopy

from trainyard.model.manifest import Manifest
from trainyard_rehearsal.checks.contents import contents, differences
from trainyard_rehearsal.checks.git_delivery import Commit, GitDelivery
from trainyard_rehearsal.checks.watched_jobs import watch_jobs
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.fakes import settle
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_STRANGER = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "stranger"}
_DEGRADED = "Degraded FlavorNotFound"


def check_drift(delivery: GitDelivery, teams: Collection[str]) -> Iterator[Outcome]:
    """Change the cluster by hand, then Git, while a job of each team runs.

    Args:
        delivery: that is synced.
        teams: names of those that are tried.
    """
    settle(delivery.lab)
    yield _check_refresh(delivery)
    watched, failures = watch_jobs(delivery.lab, delivery.tree.samples, may_borrow=True)
    manifests = _without_others(delivery, teams)
    yield _check_healing(delivery, manifests)
    yield _check_degraded_queues(delivery, manifests)
    yield _check_lost_folder(delivery)
    yield _check_rendering(delivery)
    failures += watched.disturbed()
    yield counted("running jobs undisturbed", watched.tried, failures)
    watched.delete()


def _without_others(delivery: GitDelivery, teams: Collection[str]) -> list[Manifest]:
    """Return the manifests without folders and queues of teams that are not tried."""
    units: set[str] = set()
    queues: set[str] = set()
    for tenant in delivery.tree.site.tenants:
        if tenant.name not in teams:
            units.add(f"teams/{tenant.name}")
            queues |= {queue.name for queue in tenant.queues}
    return [
        manifest
        for manifest in delivery.tree.manifests
        if manifest.unit not in units and manifest.name not in queues
    ]


def _check_refresh(delivery: GitDelivery) -> Outcome:
    """Make Argo CD drop its cache and compare again; no object may change."""
    lab, manifests = delivery.lab, delivery.tree.manifests
    before = contents(lab, manifests)
    delivery.refresh(delivery.units, "hard")
    delivery.wait(delivery.is_refreshed)
    failures = delivery.wait_until_synced(Commit("", ()))
    failures += differences(lab, manifests, before, "changed after a refresh")
    return counted("refresh changes nothing", len(manifests), failures)


def _check_healing(delivery: GitDelivery, manifests: Sequence[Manifest]) -> Outcome:
    """Change objects by hand, and wait until Argo CD reverts the changes."""
    lab, changes = delivery.lab, list(_manual_changes(manifests))
    changed = [manifest for manifest, _ in changes]
    before = contents(lab, changed)
    for manifest, change in changes:
        lab.api.patch(manifest.body, change)
    delivery.wait(lambda: contents(lab, changed) == before)
    failures = differences(lab, changed, before, "the manual change remains")
    return counted("drift healed", len(changes), failures)


def _manual_changes(manifests: Sequence[Manifest]) -> Iterator[tuple[Manifest, Body]]:
    """Open each default deny, hold each queue, and give each role to a stranger.

    Argo CD's own rights in ``argocd/`` stay: without them it can revert nothing, and only an
    administrator can give them.
    """
    for manifest in manifests:
        if manifest.unit == "argocd":
            continue
        match manifest.kind.name, manifest.name:
            case "NetworkPolicy", "default-deny":
                yield manifest, {"spec": {"ingress": [{}], "egress": [{}]}}
            case "ClusterQueue", _:
                yield manifest, {"spec": {"stopPolicy": "Hold"}}
            case "RoleBinding" | "ClusterRoleBinding", _:
                yield manifest, {"subjects": [_STRANGER]}


def _check_degraded_queues(delivery: GitDelivery, manifests: Sequence[Manifest]) -> Outcome:
    """Remove the flavor of each queue in Git; its Application must report the queue as Degraded."""
    queues = [manifest for manifest in manifests if _accepts_jobs(manifest)]
    delivery.commit({delivery.path(queue): _without_flavor(queue) for queue in queues})
    names = {queue.name for queue in queues}
    delivery.wait(lambda: not _not_degraded(delivery).keys() & names)
    health = _not_degraded(delivery)
    failures = [
        Failure(queue.path, health[queue.name], queue.at)
        for queue in queues
        if queue.name in health
    ]
    files = {path: delivery.tree.files[path] for path in map(delivery.path, queues)}
    failures += delivery.wait_until_synced(delivery.commit(files))
    return counted("degraded queues reported", len(queues), failures)


def _not_degraded(delivery: GitDelivery) -> dict[str, str]:
    """Return the health of the queues that the platform's Application reports otherwise."""
    application = delivery.application(delivery.lab.plan.site.part("platform"))
    found = {}
    for resource in application.get("status", {}).get("resources", []):
        health = resource.get("health", {})
        text = f"{health.get('status')} {health.get('message')}"
        if resource["kind"] == "ClusterQueue" and _DEGRADED not in text:
            found[resource["name"]] = text
    return found


def _accepts_jobs(manifest: Manifest) -> bool:
    """Return whether a manifest is a queue that is not stopped: a stopped queue is Suspended."""
    return manifest.kind.name == "ClusterQueue" and manifest.body["spec"]["stopPolicy"] == "None"


def _without_flavor(queue: Manifest) -> bytes:
    body = deepcopy(queue.body)
    body["spec"]["resourceGroups"][0]["flavors"][0]["name"] = "gone"
    return json.dumps(body).encode()


def _check_lost_folder(delivery: GitDelivery) -> Outcome:
    """Remove the folder of a team from Git; its objects must stay. Then restore the folder."""
    lab, tenant = delivery.lab, delivery.lab.plan.site.tenants[-1]
    unit = f"teams/{tenant.name}"
    own = [manifest for manifest in delivery.tree.manifests if manifest.unit == unit]
    before = contents(lab, own)
    folder = lab.plan.site.folder(f"{unit}/")
    files = {
        path: content for path, content in delivery.tree.files.items() if path.startswith(folder)
    }
    delivery.commit(dict.fromkeys(files))
    failures = delivery.wait_until_orphaned(tenant.application)
    failures += differences(lab, own, before, "changed or deleted without its folder")
    failures += delivery.wait_until_synced(delivery.commit(files))
    return counted("objects of a lost folder kept", len(own), failures, f"of team {tenant.name}")


def _check_rendering(delivery: GitDelivery) -> Outcome:
    """Change an object of one team, refresh all, and count the folders that kustomize builds."""
    manifest = next(each for each in delivery.tree.manifests if each.kind.name == "LimitRange")
    metadata = manifest.body["metadata"]
    annotations = {**metadata.get("annotations", {}), "rehearsal": "changed"}
    body = {**manifest.body, "metadata": {**metadata, "annotations": annotations}}
    path, before = delivery.path(manifest), len(delivery.argocd.builds)
    commit = delivery.commit({path: json.dumps(body).encode()})
    delivery.refresh(delivery.units)
    failures = delivery.wait_until_synced(commit._replace(applications=delivery.units))
    root = delivery.lab.plan.site.folder("")
    builds = [folder.rpartition(root)[2] for folder in delivery.argocd.builds[before:]]
    if builds != [manifest.unit]:
        failures.append(Failure(manifest.path, f"kustomize was run for {builds}", manifest.at))
    delivery.commit({path: delivery.tree.files[path]})
    return counted("one change renders one folder", 1, failures)
