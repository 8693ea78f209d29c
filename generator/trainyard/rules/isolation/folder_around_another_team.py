"""Look up each folder that lies around a team's own, on all clusters: one server may serve several."""

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
    summary="No team's folder on an NFS server holds the folder of another team.",
    why="""
        The team mounts the outer folder and sees the other team's folder inside it. Jobs of both
        may run as the same user, so that each can read, overwrite and delete the other's files.
    """,
    fix="Use export paths of which none lies inside another, or another name for the team.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    claims = list(_claims(platform))
    owners: dict[tuple[str, ...], Claim] = {}
    for claim in claims:
        owners.setdefault(_folder(claim), claim)
    inside: dict[tuple[str, ...], dict[str, Claim]] = defaultdict(dict)
    for claim in claims:
        path = _folder(claim)
        for outer in (path[:end] for end in range(2, len(path))):
            if outer in owners and owners[outer].team != claim.team:
                inside[outer].setdefault(claim.team, claim)
    for outer, teams in sorted(inside.items()):
        owner = owners[outer]
        others = f"team {next(iter(teams))}" if len(teams) == 1 else f"{len(teams)} other teams"
        message = (
            f"team {owner.team} gets folder {owner.path} of {owner.storage.server}, which "
            f"holds that of {others}"
        )
        notes = [
            Note(f"team {team} has {claim.path}", claim.request.at)
            for team, claim in sorted(teams.items())
        ]
        yield RULE.at(owner.request.at, message, notes=notes)


def _claims(platform: Platform) -> Iterator[Claim]:
    return (
        claim for site in platform.sites for tenant in site.tenants for claim in tenant.made_volumes
    )


def _folder(claim: Claim) -> tuple[str, ...]:
    """Return the server, as DNS compares it, and the names of the folders from the root."""
    return claim.storage.server.lower(), *filter(None, claim.path.split("/"))


CHECK = Check(RULE, find)
