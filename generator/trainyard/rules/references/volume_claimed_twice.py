"""Compare the volumes of all claims on each cluster, those that Trainyard makes first."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.storage import Claim
from trainyard.rules._check import Check

RULE = Rule(
    id="references/volume-claimed-twice",
    severity=Severity.ERROR,
    summary="A PersistentVolume is behind one claim.",
    why="""
        A volume binds to the claim that comes first. The other stays Pending, and Argo CD's unit
        with it (`waiting for healthy state of /PersistentVolumeClaim/<claim>`, seen with Argo CD
        3.5.7); whoever frees the volume for it gives it the first one's data.
    """,
    fix="""
        Name a volume for each claim; data that two teams read belongs on an NFS export or into a
        bucket.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        claims = [
            claim for tenant in site.tenants for space in tenant.spaces for claim in space.claims
        ]
        first: dict[str, Claim] = {}
        for claim in sorted(
            (each for each in claims if each.volume),
            key=lambda each: each.storage.kind == "adopted",
        ):
            other = first.setdefault(claim.volume, claim)
            # Two that Trainyard would make under one name are told as clashing names.
            if other is not claim and claim.storage.kind == "adopted":
                message = f"volume `{claim.volume}` is behind {_named(other)} and {_named(claim)}"
                notes = [Note("the first is asked for here", other.request.at)]
                yield RULE.at(claim.request.at, message, notes=notes)


def _named(claim: Claim) -> str:
    return f"claim `{claim.name}` in {claim.namespace}"


CHECK = Check(RULE, find)
