"""From the controls of a regulation to the objects that answer them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from generator.model.compliance import Compliance
from generator.model.manifest import Manifest
from generator.model.platform import Site
from generator.model.tenant import Tenant

Objects = Callable[[Tenant, Manifest], bool]
"""Whether an object answers a measure for a team."""


@dataclass(frozen=True, slots=True)
class Row:
    """A control, and what answers it.

    Args:
        objects: paths below the cluster's folder.
    """

    control: str
    measure: str
    how: str
    objects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A team under a regulation."""

    title: str
    team: str
    contact: str
    file: str
    rows: tuple[Row, ...]


def evidence(site: Site, manifests: Sequence[Manifest]) -> tuple[Section, ...]:
    """Return a section for each team of a site that is under a regulation."""
    return tuple(
        Section(
            title=tenant.team.compliance.title,
            team=tenant.name,
            contact=tenant.team.contact,
            file=tenant.team.at.file,
            rows=tuple(_rows(tenant, tenant.team.compliance, manifests)),
        )
        for tenant in site.tenants
        if tenant.team.compliance
    )


def _rows(tenant: Tenant, compliance: Compliance, manifests: Sequence[Manifest]) -> Iterator[Row]:
    for measure, control in sorted(compliance.controls.items(), key=lambda each: (each[1], each[0])):
        answers = _OBJECTS[measure]
        paths = tuple(manifest.path for manifest in manifests if answers(tenant, manifest))
        yield Row(control, _MEASURES[measure], _how(tenant, measure), paths)


def _how(tenant: Tenant, measure: str) -> str:
    if measure == "encryptionInTransit":
        stated = "required" if tenant.team.encrypts_transit else "not required"
        return f"the team states that it is {stated}; {_HOW[measure]}"
    return _HOW[measure]


def _of(tenant: Tenant, manifest: Manifest) -> bool:
    return manifest.unit == f"teams/{tenant.name}"


def _roles(tenant: Tenant, manifest: Manifest) -> bool:
    team_roles = manifest.kind.name == "ClusterRole" and manifest.name.startswith("trainyard-team-")
    return team_roles or (_of(tenant, manifest) and manifest.kind.name == "RoleBinding")


def _audit(_: Tenant, manifest: Manifest) -> bool:
    return manifest.path == "operators/audit-policy.yaml"


def _nodes(tenant: Tenant, manifest: Manifest) -> bool:
    pools = {flavor.name for queue in tenant.queues for flavor in queue.flavors}
    queues = {queue.name for queue in tenant.queues}
    flavor = manifest.kind.name == "ResourceFlavor" and manifest.name in pools
    return flavor or (manifest.kind.name == "ClusterQueue" and manifest.name in queues)


def _storage(tenant: Tenant, manifest: Manifest) -> bool:
    made = manifest.kind.name == "PersistentVolume" and manifest.name in {each.volume for each in tenant.made_volumes}
    buckets = {secret.name for space in tenant.spaces for secret in space.buckets}
    bucket = manifest.kind.name == "ExternalSecret" and manifest.name in buckets
    return made or (_of(tenant, manifest) and (bucket or manifest.kind.name == "PersistentVolumeClaim"))


def _runtimes(tenant: Tenant, manifest: Manifest) -> bool:
    names = {launch.name for space in tenant.spaces for launch in space.launches}
    return manifest.kind.name == "ClusterTrainingRuntime" and manifest.name in names


def _networks(tenant: Tenant, manifest: Manifest) -> bool:
    attached = {network.name for space in tenant.spaces for network in space.networks}
    kind = manifest.kind.name
    own = _of(tenant, manifest) and kind in {"NetworkAttachmentDefinition", "NetworkPolicy"}
    return own or (kind == "SriovNetwork" and manifest.name in attached)


_OBJECTS: Mapping[str, Objects] = {
    "accessControl": _roles,
    "audit": _audit,
    "dedicatedNodes": _nodes,
    "encryptedStorage": _storage,
    "encryptionInTransit": _runtimes,
    "fips": _runtimes,
    "networkIsolation": _networks,
}
_MEASURES = {
    "accessControl": "access control",
    "audit": "audit",
    "dedicatedNodes": "dedicated nodes",
    "encryptedStorage": "encrypted storage",
    "encryptionInTransit": "encryption in transit",
    "fips": "FIPS mode",
    "networkIsolation": "network isolation",
}
_HOW = {
    "accessControl": "roles from a closed list, for groups of the identity provider, in the team's namespaces only",
    "audit": "the API server records who did what in the team's namespaces",
    "dedicatedNodes": "no team outside the regulation has quota on these nodes, and nothing is lent or borrowed",
    "encryptedStorage": "every claim and bucket is on storage that its owner says is encrypted",
    "encryptionInTransit": "ssh between ranks is encrypted always, data between ranks only by an encrypted pod network",
    "fips": "nodes in FIPS mode; sshd and ssh of each job take approved algorithms only",
    "networkIsolation": "default deny in every namespace; a partition or VLAN of the team's own on each fabric",
}
