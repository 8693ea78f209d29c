"""Fakes for controllers that do not run here: their volumes and their statuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain

from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.refusal import unless_gone

_PATIENCE = 120.0
_FAKED = "written by the rehearsal"


def _condition(kind: str, status: str, reason: str = "", message: str = "") -> Body:
    return {"type": kind, "status": status, "reason": reason, "message": message}


STATUSES: dict[str, Body] = {
    # External Secrets Operator, after it has written the Secret.
    "ExternalSecret": {"conditions": [_condition("Ready", "True", "SecretSynced", _FAKED)]},
    # grafana-operator, after a Grafana has taken the dashboard.
    "GrafanaDashboard": {
        "conditions": [
            {
                **_condition("DashboardSynchronized", "True", "ApplySuccessful", _FAKED),
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }
        ]
    },
    # The Kueue operator, when Kueue runs: pkg/operator/target_config_reconciler.go, release-1.3.
    "Kueue": {"conditions": [_condition("Available", "True", "AllReplicasReady", _FAKED)]},
    # The machine-config operator, when every node has its configuration:
    # pkg/controller/node/status.go.
    "MachineConfigPool": {
        "conditions": [
            _condition("RenderDegraded", "False"),
            _condition("NodeDegraded", "False"),
            _condition("Degraded", "False"),
            _condition("Updated", "True", message=_FAKED),
            _condition("Updating", "False"),
        ]
    },
}
"""Statuses by kind, as the missing controllers write them when all is well."""


def settle(lab: Lab) -> int:
    """Create a volume for each claim of a provisioner; wait for bound claims and counted quotas.

    Returns:
        Number of created volumes.

    Raises:
        ToolError: a claim is not bound, or a quota not counted.
    """
    made = list(volumes(lab.plan.site))
    for body in made:
        lab.api.apply(body)
    lab.processes.wait_until(
        partial(_bound, lab.api), "the binding of the teams' claims", _PATIENCE
    )
    lab.processes.wait_until(
        partial(_counting, lab.api), "the first count of the teams' objects", _PATIENCE
    )
    return len(made)


def volumes(site: Site) -> Iterator[Body]:
    """Yield the volumes that provisioners would make for the teams' claims."""
    spaces = [space for tenant in site.tenants for space in tenant.spaces]
    for claim in chain.from_iterable(space.claims for space in spaces):
        if claim.storage.kind != "nfs":
            yield {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": claim.volume or f"fake-{claim.namespace}-{claim.name}"},
                "spec": {
                    "accessModes": ["ReadWriteMany"],
                    "capacity": {"storage": claim.size},
                    "claimRef": {"namespace": claim.namespace, "name": claim.name},
                    "hostPath": {"path": "/fake"},
                    "persistentVolumeReclaimPolicy": "Retain",
                    "storageClassName": claim.storage.storage_class,
                },
            }


def _bound(api: Api) -> bool:
    claims = api.list("v1", "PersistentVolumeClaim")
    return all((claim.get("status") or {}).get("phase") == "Bound" for claim in claims)


def _counting(api: Api) -> bool:
    """Return whether every quota counts all kinds that it limits; until then it refuses them."""
    return all(
        set(quota["spec"]["hard"]) <= _counted(quota) for quota in api.list("v1", "ResourceQuota")
    )


def _counted(quota: Body) -> set[str]:
    """Return the resources that a quota counts; a new kind is missing for half a minute."""
    return set((quota.get("status") or {}).get("used") or {})


def write_statuses(api: Api, manifests: Iterable[Manifest]) -> None:
    """Write the status of each object whose own controller does not run here, unless it has one.

    Args:
        api: the administrator's client.
        manifests: the tree's; only objects of their kinds are listed.
    """
    kinds = {(manifest.body["apiVersion"], manifest.kind.name) for manifest in manifests}
    for version, kind in sorted(kinds):
        if status := STATUSES.get(kind):
            for body in api.list(version, kind):
                if not body.get("status"):
                    with unless_gone():
                        api.patch(body, {"status": {**status, **_observed(kind, body)}}, "status")


def _observed(kind: str, body: Body) -> Body:
    if kind != "MachineConfigPool":
        return {}
    return {"observedGeneration": body["metadata"].get("generation", 1)}
