"""The rule on fields that the API server never changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from trainyard.change.history.replacement import Replacement
from trainyard.diagnostics import Diagnostic, Note, Pointer
from trainyard.model.differences import Difference, few
from trainyard.model.identity import Identity, identity
from trainyard.model.immutable import FIELDS, SIZE, grows, is_static, refused_changes
from trainyard.model.manifest import Manifest
from trainyard.model.names import DEFAULT_QUEUE
from trainyard.model.platform import Site
from trainyard.model.storage import Claim
from trainyard.rules.change.immutable_field import RULE as IMMUTABLE_FIELD

_KUEUE = "Kueue's answer was `{}` (seen with Kueue 0.19.2)"
_FLAVOR = _KUEUE.format(
    "nodeLabels|tolerations|topologyName are immutable when topologyName is set"
)
_ANSWERS = {
    ("LocalQueue", "spec.clusterQueue"): _KUEUE.format("spec.clusterQueue: field is immutable"),
    ("ResourceFlavor", "spec.nodeLabels"): _FLAVOR,
    ("ResourceFlavor", "spec.tolerations"): _FLAVOR,
    ("ResourceFlavor", "spec.topologyName"): _FLAVOR,
    ("Topology", "spec.levels"): _KUEUE.format("spec.levels: field is immutable"),
}
"""The answer to a change, by kind and field, where one was seen."""

_RESIZED = (
    "the API server's answer to a larger size was `Forbidden: only dynamically provisioned pvc can "
    "be resized and the storageclass that provisions the pvc must support resize` (seen with "
    "Kubernetes 1.36)"
)
_KEEP_SIZE = (
    "Restore the size. On NFS it limits nothing: for more space, raise the quota on the NFS "
    "server. A claim of another size needs a new kind of storage, with its own name, beside the "
    "old one."
)
_KEEP_QUEUE = (
    "Set `defaultQueue: {}` in the team's profile. To move jobs without a queue's label, or when "
    "the team has no such nodes any more: set `defaultQueue: none` in this change, and the other "
    "class in a later one."
)
_OF_THE_CLUSTER = frozenset({"spec.nfs.path", "spec.nfs.server", "spec.storageClassName"})
"""Fields of claims and volumes that come from the cluster's kind of storage, not the team."""


def immutable_field(replacement: Replacement) -> Iterator[Diagnostic]:
    """Compare the fields of each object that is in both trees.

    A change that comes from one place of a profile is reported once.
    """
    claims = dict(_claims(replacement.site))
    names: dict[tuple[Pointer, str, str, str, str], list[str]] = defaultdict(list)
    values: dict[tuple[Pointer, str, str, str, str], dict[str, None]] = defaultdict(dict)
    for old, new in replacement.pairs(*FIELDS):
        for change in refused_changes(old, new):
            at = _place(replacement.site, new, change, claims.get(identity(new)))
            key = (at, new.kind.name, change.path, *_explained(old, change))
            names[key].append(_named(new))
            values[key][change.display] = None
    for key, some in names.items():
        at, kind, field, hint, answer = key
        message = (
            f"{kind} {few(some)} on cluster `{replacement.site.name}` changes "
            f"{field.removeprefix('spec.')}: {few(values[key])}"
        )
        notes = [Note(answer)] if answer else []
        yield IMMUTABLE_FIELD.at(at, message, hint=hint, notes=notes)


def _explained(old: Manifest, change: Difference) -> tuple[str, str]:
    """Return the hint for a rejected change and the API server's answer; each may be empty."""
    if change.path == SIZE and is_static(old):
        return _KEEP_SIZE, _RESIZED if grows(change) else ""
    if old.kind.name == "LocalQueue" and old.name == DEFAULT_QUEUE:
        answer = _ANSWERS[old.kind.name, change.path]
        return _KEEP_QUEUE.format(str(change.old).rpartition("-")[2]), answer
    if _is_folder(change):
        return f"Set `folder: {change.old.rpartition('/')[2]}`, where the team's files are.", ""
    return "", _ANSWERS.get((old.kind.name, change.path), "")


def _named(manifest: Manifest) -> str:
    return f"`{manifest.namespace}/{manifest.name}`" if manifest.namespace else f"`{manifest.name}`"


def _claims(site: Site) -> Iterator[tuple[Identity, Claim]]:
    """Yield the claim of each PersistentVolumeClaim, and of each volume that we make for one."""
    for tenant in site.tenants:
        for space in tenant.spaces:
            for claim in space.claims:
                yield Identity("PersistentVolumeClaim", claim.namespace, claim.name), claim
                yield Identity("PersistentVolume", "", claim.volume), claim


def _is_folder(change: Difference) -> bool:
    """Return whether the path of a volume changes in its last folder alone, which is the team's."""
    if change.path != "spec.nfs.path":
        return False
    return str(change.old).rpartition("/")[0] == str(change.new).rpartition("/")[0]


def _place_of(claim: Claim, change: Difference) -> Pointer:
    """Return the profile place that a field of a claim or its volume comes from."""
    if _is_folder(change):
        return Pointer(claim.request.at.file) / "folder"
    return claim.storage.at if change.path in _OF_THE_CLUSTER else claim.request.at


def _place(site: Site, manifest: Manifest, change: Difference, claim: Claim | None) -> Pointer:
    """Return the profile place that a field comes from."""
    field = change.path
    if claim:
        return _place_of(claim, change)
    if field in {"spec.nodeLabels", "spec.tolerations"}:
        return next(pool.hardware.at for pool in site.cluster.pools if pool.name == manifest.name)
    if field == "spec.topologyName":
        return manifest.at
    return manifest.at / "levels" if field == "spec.levels" else manifest.at
