"""What Argo CD does when somebody meddles with the cluster, or with Git."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from copy import deepcopy

from trainyard.model.manifest import Manifest
from trainyard_rehearsal.checks.git_delivery import Commit, GitDelivery, contents, differences
from trainyard_rehearsal.checks.watch import watch
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.fakes import settle
from trainyard_rehearsal.outcome import Failure, Outcome, counted


def check_meddling(delivery: GitDelivery, teams: Collection[str]) -> Iterator[Outcome]:
    """Meddle with the cluster and with Git, while a job of each team runs.

    Args:
        delivery: that came.
        teams: names of those that are tried.
    """
    settle(delivery.lab)
    yield _refreshed(delivery)
    watched, failures = watch(delivery.lab, delivery.tree.samples)
    manifests = _without_others(delivery, teams)
    yield _healed(delivery, manifests)
    yield _degraded(delivery, manifests)
    yield _kept(delivery)
    yield _regenerated(delivery)
    failures += watched.disturbed()
    yield counted("users' jobs left alone", watched.tried, failures)
    watched.end()


def _without_others(delivery: GitDelivery, teams: Collection[str]) -> list[Manifest]:
    """Return the manifests but for folders and queues of teams that are not tried."""
    others = [tenant for tenant in delivery.tree.site.tenants if tenant.name not in teams]
    units = {f"teams/{tenant.name}" for tenant in others}
    queues = {queue.name for tenant in others for queue in tenant.queues}
    return [
        each
        for each in delivery.tree.manifests
        if each.unit not in units and each.name not in queues
    ]


def _refreshed(delivery: GitDelivery) -> Outcome:
    """Have Argo CD forget what it knows and compare again."""
    lab, manifests = delivery.lab, delivery.tree.manifests
    before = contents(lab, manifests)
    delivery.refresh(delivery.units, "hard")
    delivery.waited(delivery.is_refreshed)
    failures = delivery.settled(Commit("", ()))
    failures += differences(lab, manifests, before, "is another after a refresh")
    return counted("refresh changes nothing", len(manifests), failures)


def _healed(delivery: GitDelivery, manifests: Sequence[Manifest]) -> Outcome:
    """Change objects by hand: every default deny opened, every queue held, every role given to a stranger."""
    lab, drifts = delivery.lab, list(_drifts(manifests))
    changed = [manifest for manifest, _ in drifts]
    before = contents(lab, changed)
    for manifest, change in drifts:
        lab.api.patch(manifest.body, change)
    delivery.waited(lambda: contents(lab, changed) == before)
    failures = differences(lab, changed, before, "stays as somebody made it by hand")
    return counted("drift healed", len(drifts), failures)


def _drifts(manifests: Sequence[Manifest]) -> Iterator[tuple[Manifest, Body]]:
    stranger = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "stranger"}
    # Without the rights that argocd/ gives it, Argo CD can heal nothing, and those too are an
    # administrator's to give.
    for manifest in (each for each in manifests if each.unit != "argocd"):
        match manifest.kind.name, manifest.name:
            case "NetworkPolicy", "default-deny":
                yield manifest, {"spec": {"ingress": [{}], "egress": [{}]}}
            case "ClusterQueue", _:
                yield manifest, {"spec": {"stopPolicy": "Hold"}}
            case "RoleBinding" | "ClusterRoleBinding", _:
                yield manifest, {"subjects": [stranger]}


def _degraded(delivery: GitDelivery, manifests: Sequence[Manifest]) -> Outcome:
    """Take the flavor away from each queue in Git, and look whether its Application says so; then put it back."""
    queues = [manifest for manifest in manifests if _is_open(manifest)]
    delivery.committed({delivery.path(queue): _without_flavor(queue) for queue in queues})
    name = delivery.lab.plan.site.part("platform")

    def untold() -> dict[str, str]:
        resources = delivery.application(name).get("status", {}).get("resources", [])
        found = {
            each["name"]: each.get("health", {})
            for each in resources
            if each["kind"] == "ClusterQueue"
        }
        words = {
            queue: f"{health.get('status')} {health.get('message')}"
            for queue, health in found.items()
        }
        return {
            queue: text for queue, text in words.items() if "Degraded FlavorNotFound" not in text
        }

    delivery.waited(lambda: not untold().keys() & {queue.name for queue in queues})
    words = untold()
    failures = [
        Failure(queue.path, words[queue.name], queue.at) for queue in queues if queue.name in words
    ]
    files = {path: delivery.tree.files[path] for path in map(delivery.path, queues)}
    failures += delivery.settled(delivery.committed(files))
    return counted("degraded queue told", len(queues), failures)


def _is_open(manifest: Manifest) -> bool:
    """Tell a queue that takes jobs: one that was stopped on purpose is Suspended, whatever it lacks."""
    return manifest.kind.name == "ClusterQueue" and manifest.body["spec"]["stopPolicy"] == "None"


def _without_flavor(queue: Manifest) -> bytes:
    body = deepcopy(queue.body)
    body["spec"]["resourceGroups"][0]["flavors"][0]["name"] = "gone"
    return json.dumps(body).encode()


def _kept(delivery: GitDelivery) -> Outcome:
    """Remove the folder of a team from Git, and look for its objects; then put it back."""
    lab, tenant = delivery.lab, delivery.lab.plan.site.tenants[-1]
    unit = f"teams/{tenant.name}"
    own = [manifest for manifest in delivery.tree.manifests if manifest.unit == unit]
    before = contents(lab, own)
    folder = lab.plan.site.folder(f"{unit}/")
    files = {
        path: content for path, content in delivery.tree.files.items() if path.startswith(folder)
    }
    delivery.committed(dict.fromkeys(files))
    failures = delivery.orphaned(tenant.application)
    failures += differences(lab, own, before, "is another, or gone, without its folder")
    failures += delivery.settled(delivery.committed(files))
    return counted(
        "objects kept without their folder", len(own), failures, f"of team {tenant.name}"
    )


def _regenerated(delivery: GitDelivery) -> Outcome:
    """Change an object of one team, have Argo CD look at all, and count which folders kustomize is run for."""
    manifest = next(each for each in delivery.tree.manifests if each.kind.name == "LimitRange")
    annotations = {**manifest.body["metadata"].get("annotations", {}), "rehearsal": "changed"}
    body = {**manifest.body, "metadata": {**manifest.body["metadata"], "annotations": annotations}}
    path, before = delivery.path(manifest), len(delivery.argocd.builds)
    commit = delivery.committed({path: json.dumps(body).encode()})
    delivery.refresh(delivery.units)
    failures = delivery.settled(commit._replace(applications=delivery.units))
    builds = [
        path.rpartition(delivery.lab.plan.site.folder(""))[2]
        for path in delivery.argocd.builds[before:]
    ]
    if builds != [manifest.unit]:
        failures.append(Failure(manifest.path, f"kustomize was run for {builds}", manifest.at))
    delivery.committed({path: delivery.tree.files[path]})
    return counted("one change, one generation", 1, failures)
