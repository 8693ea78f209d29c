"""Rules on committed objects: changes that the API server refuses, and moves that delete one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from trainyard.change.history.replacement import Replacement
from trainyard.diagnostics import Diagnostic, Note, Pointer
from trainyard.model.differences import Difference, few
from trainyard.model.identity import Identity, identity, team_label_of
from trainyard.model.immutable import FIELDS, SIZE, grows, is_static, refused_changes
from trainyard.model.lookup import value_at
from trainyard.model.manifest import Manifest
from trainyard.model.names import DEFAULT_QUEUE
from trainyard.model.platform import Site
from trainyard.model.quantity import format_bytes, parse_amount, parse_bytes
from trainyard.model.storage import CLAIMS, Claim, claims_of
from trainyard.rules.change.claim_grows_too_far import RULE as CLAIM_GROWS_TOO_FAR
from trainyard.rules.change.domain_moved import RULE as DOMAIN_MOVED
from trainyard.rules.change.immutable_field import RULE as IMMUTABLE_FIELD
from trainyard.rules.change.object_changes_unit import RULE as OBJECT_CHANGES_UNIT


def domain_moved(replacement: Replacement) -> Iterator[Diagnostic]:
    """Find a domain other than that of the committed namespaces."""
    settings = replacement.site.cluster.settings
    labels = map(team_label_of, replacement.old("Namespace"))
    former = {label.partition("/")[0] for label in labels}
    for domain in sorted(former - {"", settings.domain}):
        message = f"the committed tree has domain `{domain}`, not `{settings.domain}`"
        yield DOMAIN_MOVED.at(settings.domain_at, message)


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
_KEEP_NAME = (
    "Restore the line. To lead the name to other nodes, remove it from `queues` in this change, "
    "and state it below the other class in a later one."
)
_OF_THE_CLUSTER = frozenset({"spec.nfs.path", "spec.nfs.server", "spec.storageClassName"})
"""Fields of claims and volumes that come from the cluster's kind of storage, not the team."""


def immutable_field(replacement: Replacement) -> Iterator[Diagnostic]:
    """Compare the fields of each object that is in both trees.

    A change that comes from one place of a profile is reported once.
    """
    claims = dict(_claims_by_identity(replacement.site))
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
    answer = _ANSWERS.get((old.kind.name, change.path), "")
    if old.kind.name == "LocalQueue":
        stated = _KEEP_QUEUE if old.name == DEFAULT_QUEUE else _KEEP_NAME
        return stated.format(str(change.old).rpartition("-")[2]), answer
    if _is_folder(change):
        return f"Set `folder: {change.old.rpartition('/')[2]}`, where the team's files are.", ""
    return "", answer


def _named(manifest: Manifest) -> str:
    return f"`{manifest.namespace}/{manifest.name}`" if manifest.namespace else f"`{manifest.name}`"


def _claims_by_identity(site: Site) -> Iterator[tuple[Identity, Claim]]:
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


_SMALLEST = parse_bytes("1Gi")
"""Unit of the size in a hint."""


def claim_grows_too_far(replacement: Replacement) -> Iterator[Diagnostic]:
    """Compare how far each claim grows with the committed quota of its namespace."""
    claims = {(each.namespace, each.name): each for each in _claims(replacement.site)}
    for old, new in replacement.pairs("PersistentVolumeClaim"):
        claim = claims.get((new.namespace, new.name))
        quota = replacement.before.get(Identity("ResourceQuota", new.namespace, "object-counts"))
        if claim is None or quota is None or is_static(old):
            continue
        size = _bytes(value_at(old.body, SIZE))
        most = size + _room(quota, replacement.site, claim)
        if claim.request.size > most:
            yield CLAIM_GROWS_TOO_FAR.at(
                claim.request.at,
                f"claim `{new.namespace}/{new.name}` on cluster `{replacement.site.name}` grows "
                f"from {format_bytes(size)} to {claim.size}",
                hint=_hint(most, size),
            )


def _room(quota: Manifest, site: Site, claim: Claim) -> int:
    """Return the bytes that a quota has beyond what claims may have in sum."""
    hard = quota.body["spec"]["hard"]
    annotations = quota.body["metadata"].get("annotations") or {}
    sums = annotations.get(site.cluster.claimed_key, "").split()
    claimed = dict(each.split("=") for each in sums)
    keys = claimed.keys() & {CLAIMS, claims_of(claim.storage.storage_class)}
    # A quota of an older Trainyard states no sums and has no room.
    return min((_bytes(hard[key]) - _bytes(claimed[key]) for key in keys), default=0)


def _bytes(quantity: str) -> int:
    return int(parse_amount(quantity))


def _hint(most: int, size: int) -> str:
    """Return what to write instead."""
    if most == size:
        return (
            "The committed quota has no room: keep the size, merge what `trainyard generate` "
            "writes, and let the claim grow after Argo CD has synced it."
        )
    step = format_bytes(most // _SMALLEST * _SMALLEST)
    return (
        f"Set at most {step}, and let it grow further after Argo CD has synced that. A claim "
        "never shrinks again."
    )


def _claims(site: Site) -> Iterator[Claim]:
    for space in site.spaces:
        yield from space.claims


_OPTIONS = "argocd.argoproj.io/sync-options"


def object_changes_unit(replacement: Replacement) -> Iterator[Diagnostic]:
    """Find committed objects that Argo CD may prune and that are in another unit now."""
    moved: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key, old in replacement.before.items():
        new = replacement.after.get(key)
        if new and old.unit != new.unit and _may_be_pruned(old):
            moved[old.unit, new.unit].append(f"{new.kind.name} `{new.name}`")
    at = replacement.site.cluster.at / "nodes" / "sync"
    for (old_unit, new_unit), objects in sorted(moved.items()):
        where = (
            f"cluster `{replacement.site.name}` move from `{old_unit}/` to `{new_unit}/` "
            "without `Prune=false`"
        )
        yield OBJECT_CHANGES_UNIT.at(at, f"objects of {where}: {few(objects)}")


def _may_be_pruned(committed: Manifest) -> bool:
    metadata = committed.body.get("metadata", {})
    options: str = metadata.get("annotations", {}).get(_OPTIONS, "")
    return bool(metadata) and "Prune=false" not in options.split(",")
