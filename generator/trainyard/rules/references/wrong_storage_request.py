"""Compare the form of each storage request with the kind of storage."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.space import Space
from trainyard.model.storage import Storage
from trainyard.model.team import StorageRequest
from trainyard.rules._check import Check

_TOO_LARGE = 1 << 63
"""Bytes from which Kubernetes caps a quantity: no more than 2^63-1
(kubernetes/apimachinery:pkg/api/resource/quantity.go)."""

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\Z")


RULE = Rule(
    id="references/wrong-storage-request",
    severity=Severity.ERROR,
    summary="A team requests storage in the form that its kind takes.",
    why="""
        The API server refuses a claim without a size, and a claim without its volume waits
        permanently. Under `claims`, only a storage class works: no volume is created for what an
        admin claims of another kind.
    """,
    fix="""
        Write a size for nfs and class, a bucket's name for s3, and `{volume: ..., size: ...}` for
        adopted. Under `claims`, name storage of kind class, or remove the line.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for tenant in site.tenants:
            for space in tenant.spaces:
                yield from _wrong_requests(space)


def _wrong_requests(space: Space) -> Iterator[Diagnostic]:
    for claim in space.claims:
        problem = _claim_problem(claim.storage, claim.request)
        if problem:
            yield RULE.at(claim.request.at, problem)
    for secret in space.buckets:
        if _BUCKET.match(secret.bucket) is None:
            message = f"storage `{secret.name}` is s3 and takes the name of a bucket"
            yield RULE.at(space.profile.at / "storage" / secret.name, message)
    for allowance in space.allowances:
        kind = allowance.storage.kind
        if kind != "class":
            message = (
                f"storage `{allowance.storage.name}` is {kind}; `claims` takes storage of kind "
                "class only"
            )
            yield RULE.at(allowance.at, message)


def _claim_problem(storage: Storage, request: StorageRequest) -> str:
    """Return what is wrong with a request for a claim; empty when nothing is."""
    takes = f"storage `{storage.name}` is {storage.kind} and takes"
    if storage.kind == "adopted" and not request.volume:
        return f"{takes} the volume and its size"
    if storage.kind != "adopted" and (request.volume or not request.size):
        return f"{takes} a size: a whole number with Mi, Gi or Ti, e.g. 500Gi"
    if request.size >= _TOO_LARGE:
        return f"{takes} a size below 8Ei, at which Kubernetes cuts sizes"
    return ""


CHECK = Check(RULE, find)
