"""What other people's controllers would make, and nobody makes here: counted, so that nobody takes it for real."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from generator.model.platform import Site
from generator.rehearse.api import Api, Body
from generator.rehearse.lab import Lab

_PATIENCE = 120.0


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
    lab.processes.wait_until(partial(_bound, lab.api), "the binding of the teams' claims", _PATIENCE)
    lab.processes.wait_until(partial(_counting, lab.api), "the first count of the teams' objects", _PATIENCE)
    return len(made)


def _volumes(site: Site) -> Iterator[Body]:
    for claim in (claim for tenant in site.tenants for space in tenant.spaces for claim in space.claims):
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
    return all(set(quota["spec"]["hard"]) <= _counted(quota) for quota in api.list("v1", "ResourceQuota"))


def _counted(quota: Body) -> set[str]:
    """Return what a quota counts: a kind that came after the controller manager is missing for half a minute."""
    return set((quota.get("status") or {}).get("used") or {})
