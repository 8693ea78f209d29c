"""What other people's controllers would make, and nobody makes here: counted, so that nobody takes it for real."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from generator.model.platform import Site
from generator.rehearse.api import Api, Body


def bind_claims(api: Api, site: Site) -> int:
    """Make a volume for each claim that a provisioner would serve; return how many."""
    made = list(_volumes(site))
    for body in made:
        api.apply(body)
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


def bound(api: Api, namespaces: Iterable[str]) -> bool:
    """Tell whether every claim is bound."""
    claims = (claim for namespace in namespaces for claim in api.list("v1", "PersistentVolumeClaim", namespace))
    return all((claim.get("status") or {}).get("phase") == "Bound" for claim in claims)
