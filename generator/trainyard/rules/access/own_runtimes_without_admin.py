"""Find teams that may have runtimes of their own, and have no admin to create them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import active

RULE = Rule(
    id="access/own-runtimes-without-admin",
    severity=Severity.WARNING,
    summary="A team with `ownRuntimes` has an admin.",
    why="""
        `ownRuntimes` has no effect, because only admins may create TrainingRuntimes. The API server
        refuses those of every other member, `... cannot create resource "trainingruntimes"` (seen
        with Kubernetes 1.36.3).
    """,
    fix="Add a group under `admin` in `groups` of the team's profile, or remove `ownRuntimes`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team in active(platform):
        roles = {*team.groups, *(account.role for account in team.accounts)}
        if team.own_runtimes and "admin" not in roles:
            message = (
                f"admins of team {team.name} may create {team.own_runtimes} runtimes, "
                "but the team has no admin"
            )
            notes = [Note("its groups", team.at / "groups")]
            yield RULE.at(team.at / "ownRuntimes", message, notes=notes)


CHECK = Check(RULE, find)
