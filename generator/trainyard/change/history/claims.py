"""The rule on claims that grow."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.change.history.replacement import Replacement
from trainyard.diagnostics import Diagnostic
from trainyard.model.identity import Identity
from trainyard.model.immutable import SIZE, is_static
from trainyard.model.lookup import value_at
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.quantity import format_bytes, parse_amount, parse_bytes
from trainyard.model.storage import CLAIMS, Claim, claims_of
from trainyard.rules.change.claim_grows_too_far import RULE as CLAIM_GROWS_TOO_FAR

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
