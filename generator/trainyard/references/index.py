"""Collect every name that a site defines, in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainyard.model.lookup import EVERY, lookup, mapping
from trainyard.model.manifest import Manifest
from trainyard.model.names import ADOPTED_CLASS
from trainyard.model.platform import Site
from trainyard.model.space import Space
from trainyard.references.names import POOL_LABEL, TOPOLOGY_LEVEL, VF_RESOURCE, Name, Scope


@dataclass(frozen=True, slots=True)
class Index:
    """The names that a site defines.

    Args:
        external: ``Kind/name`` that others own.
        manifests: objects of the tree by name; of two with one name, the first.
        kinds: the same by kind.
        names: what a manifest defines beside itself (a Secret, a VF resource), and what the
            profiles declare.
    """

    site: Site
    external: frozenset[str]
    manifests: dict[Name, Manifest] = field(default_factory=dict)
    kinds: dict[str, list[Manifest]] = field(default_factory=dict)
    names: set[Name] = field(default_factory=set)

    def knows(self, name: Name) -> bool:
        """Return whether a name is defined."""
        return (
            name in self.manifests or name in self.names or f"{name[0]}/{name[2]}" in self.external
        )

    def siblings(self, kind: str, namespace: str) -> Iterator[str]:
        """Yield the defined names of a kind in a namespace, for a hint."""
        for names in (self.manifests, self.names):
            for name in names:
                if name[:2] == (kind, namespace):
                    yield name[2]
        for each in self.external:
            if each.startswith(f"{kind}/"):
                yield each.removeprefix(f"{kind}/")

    def scope(self, manifest: Manifest) -> Scope:
        """Return the scope of a manifest's names."""
        return Scope(manifest.namespace, self.site.cluster.release.resource_prefix)


def make_index(site: Site, manifests: Sequence[Manifest]) -> Index:
    """Return the index of a site."""
    index = Index(site, frozenset(site.cluster.external))
    index.names.update(_declared(site))
    prefix = site.cluster.release.resource_prefix
    for manifest in manifests:
        kind = str(manifest.body["kind"])
        index.manifests.setdefault((kind, manifest.namespace, manifest.name), manifest)
        index.kinds.setdefault(kind, []).append(manifest)
        index.names.update(_beside_itself(kind, manifest, prefix))
    return index


def _declared(site: Site) -> Iterator[Name]:
    """Yield what exists already by the profiles: GPUs, devices, accounts with an owner, volumes.

    The class of these is a name only: nothing provisions it.
    """
    yield "StorageClass", "", ADOPTED_CLASS
    for pool in site.cluster.pools:
        if pool.hardware.gpu:
            # Its vendor's prefix may be that of the SR-IOV resources too.
            yield VF_RESOURCE, "", pool.hardware.gpu.resource
        if pool.device_fabric:
            for name in pool.device_fabric.advertised_names:
                yield VF_RESOURCE, "", name
    for tenant in site.tenants:
        for space in tenant.spaces:
            yield from _declared_in(space)


def _declared_in(space: Space) -> Iterator[Name]:
    for account in space.team.accounts:
        if account.owner:
            yield "ServiceAccount", space.namespace, account.name
    for claim in space.claims:
        if claim.storage.kind == "adopted":
            yield "PersistentVolume", "", claim.volume


def _beside_itself(kind: str, manifest: Manifest, prefix: str) -> Iterator[Name]:
    body: Mapping[str, Any] = manifest.body
    match kind:
        case "ComputeDomain" | "ExternalSecret":
            yield _made_of(manifest)
        case "SriovNetwork":
            # The SR-IOV operator writes it into the namespace, under the name of its own object.
            yield (
                "NetworkAttachmentDefinition",
                str(mapping(body, "spec").get("networkNamespace")),
                manifest.name,
            )
        case "SriovNetworkNodePolicy":
            yield VF_RESOURCE, "", f"{prefix}/{mapping(body, 'spec').get('resourceName')}"
        case "Topology":
            for _, label in lookup(body, ("spec", "levels", EVERY, "nodeLabel")):
                yield TOPOLOGY_LEVEL, "", str(label)
        case "MachineConfigPool":
            for label, value in mapping(body, "metadata", "labels").items():
                yield POOL_LABEL, "", f"{label}={value}"


def _made_of(manifest: Manifest) -> Name:
    """Return what another controller makes of an object, beside it."""
    if manifest.kind.name == "ExternalSecret":
        return "Secret", manifest.namespace, secret_of(manifest)
    template = mapping(manifest.body, "spec", "channel", "resourceClaimTemplate")
    return "ResourceClaimTemplate", manifest.namespace, str(template.get("name"))


def secret_of(manifest: Manifest) -> str:
    """Return the Secret that an ExternalSecret makes."""
    return str(mapping(manifest.body, "spec", "target").get("name", manifest.name))
