"""Find buckets that two teams use, on any clusters."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.space import Space
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/bucket-of-two-teams",
    severity=Severity.WARNING,
    summary="A bucket belongs to only one team.",
    why="""
        Each team can read, overwrite and delete the other team's data: a job can continue from the
        other team's checkpoint.
    """,
    fix="Create a bucket for each team, or waive this rule if both teams only read.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    known: dict[tuple[str, str], dict[str, Pointer]] = {}
    for space in _spaces(platform):
        for secret in space.buckets:
            holders = known.setdefault((secret.endpoint, secret.bucket), {})
            holders.setdefault(space.team.name, space.profile.at / "storage" / secret.name)
    for (_, bucket), holders in known.items():
        (first, place), *others = holders.items()
        for team, at in others:
            message = f"bucket `{bucket}` belongs to two teams, {first} and {team}"
            yield RULE.at(at, message, notes=[Note(f"the bucket of team {first}", place)])


def _spaces(platform: Platform) -> Iterator[Space]:
    return (space for site in platform.sites for tenant in site.tenants for space in tenant.spaces)


CHECK = Check(RULE, find)
