"""Stands in for controllers that do not run here: makes their volumes, writes their statuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.lab import Lab

_PATIENCE = 120.0

STATUSES: dict[str, Body] = {
    # External Secrets Operator, after it has written the Secret.
    "ExternalSecret": {
        "conditions": [
            {"type": "Ready", "status": "True", "reason": "SecretSynced", "message": "stands in"}
        ]
    },
    # The Kueue operator, when Kueue runs: pkg/operator/target_config_reconciler.go, release-1.3.
    "Kueue": {
        "conditions": [
            {
                "type": "Available",
                "status": "True",
                "reason": "AllReplicasReady",
                "message": "stands in",
            }
        ]
    },
    # The machine-config operator, when every node has its configuration:
    # pkg/controller/node/status.go.
    "MachineConfigPool": {
        "conditions": [
            {"type": "RenderDegraded", "status": "False", "reason": "", "message": ""},
            {"type": "NodeDegraded", "status": "False", "reason": "", "message": ""},
            {"type": "Degraded", "status": "False", "reason": "", "message": ""},
            {"type": "Updated", "status": "True", "reason": "", "message": "stands in"},
            {"type": "Updating", "status": "False", "reason": "", "message": ""},
        ]
    },
}
"""By kind."""


def settle(lab: Lab) -> int:
    """Make a volume for each claim that a provisioner would serve, and wait until claims are bound and quotas counted.

    Returns:
        How many volumes were made.

    Raises:
        ToolError: a claim is not bound, or a quota not counted.
    """
    made = list(_volumes(lab.plan.site))
    for body in made:
        lab.api.apply(body)
    lab.processes.wait_until(
        partial(_bound, lab.api), "the binding of the teams' claims", _PATIENCE
    )
    lab.processes.wait_until(
        partial(_counting, lab.api), "the first count of the teams' objects", _PATIENCE
    )
    return len(made)


def _volumes(site: Site) -> Iterator[Body]:
    for claim in (
        claim for tenant in site.tenants for space in tenant.spaces for claim in space.claims
    ):
        if claim.storage.kind != "nfs":
            yield {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": claim.volume or f"stand-in-{claim.namespace}-{claim.name}"},
                "spec": {
                    "accessModes": ["ReadWriteMany"],
                    "capacity": {"storage": claim.size},
                    "claimRef": {"namespace": claim.namespace, "name": claim.name},
                    "hostPath": {"path": "/stand-in"},
                    "persistentVolumeReclaimPolicy": "Retain",
                    "storageClassName": claim.storage.storage_class,
                },
            }


def _bound(api: Api) -> bool:
    claims = api.list("v1", "PersistentVolumeClaim")
    return all((claim.get("status") or {}).get("phase") == "Bound" for claim in claims)


def _counting(api: Api) -> bool:
    """Tell whether every quota counts all that it limits: until then nothing of that may be made."""
    return all(
        set(quota["spec"]["hard"]) <= _counted(quota) for quota in api.list("v1", "ResourceQuota")
    )


def _counted(quota: Body) -> set[str]:
    """Return what a quota counts: a kind that came after the controller manager is missing for half a minute."""
    return set((quota.get("status") or {}).get("used") or {})


def write_statuses(api: Api, manifests: Iterable[Manifest]) -> None:
    """Write the status of each object whose own controller does not run here, unless it has one.

    Args:
        api: as the administrator sees it.
        manifests: of the tree; only their kinds are looked for.
    """
    kinds = {(each.body["apiVersion"], each.kind.name) for each in manifests}
    for version, kind in sorted(kinds):
        if status := STATUSES.get(kind):
            for body in api.list(version, kind):
                if not body.get("status"):
                    api.patch(body, {"status": {**status, **_observed(kind, body)}}, "status")


def _observed(kind: str, body: Body) -> Body:
    return (
        {"observedGeneration": body["metadata"].get("generation", 1)}
        if kind == "MachineConfigPool"
        else {}
    )
