"""Find PersistentVolumes that two claims of a cluster use."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform, Site
from trainyard.model.storage import Claim
from trainyard.rules._check import Check

RULE = Rule(
    id="references/volume-claimed-twice",
    severity=Severity.ERROR,
    summary="Each PersistentVolume is used by one claim.",
    why="""
        The second claim stays Pending, and Argo CD's sync of its unit waits (`waiting for healthy
        state of /PersistentVolumeClaim/<claim>`, seen with Argo CD 3.5.7): the volume binds to the
        claim that comes first. Whoever frees the volume for the second claim gives it the first
        one's data.
    """,
    fix="""
        Name a different volume for each claim. To share data between two teams, use an NFS export
        or a bucket.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        first: dict[str, Claim] = {}
        for claim in _claims(site):
            other = first.setdefault(claim.volume, claim)
            # Two claims that Trainyard creates are reported as clashing names.
            if other is not claim and claim.storage.kind == "adopted":
                message = (
                    f"volume `{claim.volume}` is used by {_described(other)} and "
                    f"{_described(claim)}"
                )
                notes = [Note("the first claim", other.request.at)]
                yield RULE.at(claim.request.at, message, notes=notes)


def _claims(site: Site) -> list[Claim]:
    """Return the claims of a cluster that name a volume, those that Trainyard creates first."""
    claims: list[Claim] = []
    for tenant in site.tenants:
        for space in tenant.spaces:
            claims += (claim for claim in space.claims if claim.volume)
    return sorted(claims, key=lambda each: each.storage.kind == "adopted")


def _described(claim: Claim) -> str:
    return f"claim `{claim.name}` in {claim.namespace}"


CHECK = Check(RULE, find)
