"""Find NFS folders that contain another team's folder, also of teams on different clusters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.storage import Claim
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/folder-around-another-team",
    severity=Severity.ERROR,
    summary="No team's folder on an NFS server contains the folder of another team.",
    why="""
        The team mounts the outer folder and sees the other team's folder inside it. Jobs of both
        may run as the same user, so each can read, overwrite and delete the other's files.
    """,
    fix="Use export paths of which none is inside another, or rename the team.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for owner, inner in _containing(list(_claims(platform))):
        others = f"team {next(iter(inner))}" if len(inner) == 1 else f"{len(inner)} other teams"
        message = (
            f"team {owner.team} gets folder {owner.path} of {owner.storage.server}, which "
            f"contains that of {others}"
        )
        notes = [
            Note(f"team {team} has {claim.path}", claim.request.at)
            for team, claim in sorted(inner.items())
        ]
        yield RULE.at(owner.request.at, message, notes=notes)


def _containing(claims: list[Claim]) -> Iterator[tuple[Claim, dict[str, Claim]]]:
    """Yield each claim whose folder contains other teams' folders, with those claims by team."""
    owners: dict[tuple[str, ...], Claim] = {}
    for claim in claims:
        owners.setdefault(_folder(claim), claim)
    inside: dict[tuple[str, ...], dict[str, Claim]] = defaultdict(dict)
    for claim in claims:
        for outer in _outer_folders(claim):
            if outer in owners and owners[outer].team != claim.team:
                inside[outer].setdefault(claim.team, claim)
    for outer, inner in sorted(inside.items()):
        yield owners[outer], inner


def _claims(platform: Platform) -> Iterator[Claim]:
    return (
        claim for site in platform.sites for tenant in site.tenants for claim in tenant.made_volumes
    )


def _folder(claim: Claim) -> tuple[str, ...]:
    """Return the server, as DNS compares it, and the names of the folders from the root."""
    return claim.storage.server.lower(), *filter(None, claim.path.split("/"))


def _outer_folders(claim: Claim) -> Iterator[tuple[str, ...]]:
    """Yield each folder that contains a claim's folder, except the root of the server."""
    path = _folder(claim)
    for end in range(2, len(path)):
        yield path[:end]


CHECK = Check(RULE, find)
