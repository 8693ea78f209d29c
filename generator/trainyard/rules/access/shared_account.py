"""Find service accounts that have a role in a team whose regulation controls access."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._compliance import NOT_ENFORCED, asking
from trainyard.rules._iterate import active

RULE = Rule(
    id="access/shared-account",
    severity=Severity.ERROR,
    summary="""
        Where a regulation requires access control, only people have roles in the team, each under a
        name of their own.
    """,
    why=f"""
        The audit log names the service account, not the person who used it: anyone who has its
        token, or starts a pod as it, submits and deletes jobs under its name (seen with Kubernetes
        1.36.3). {NOT_ENFORCED}
    """,
    fix="""
        Remove the account from `serviceAccounts`; a pipeline can submit with the token of the
        person who started it.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team in active(platform):
        if compliance := asking(team, "accessControl"):
            for account in team.accounts:
                message = (
                    f"team {team.name} is under {compliance.name}, but its service account "
                    f"`{account.name}` is not a person"
                )
                yield RULE.at(account.at.key(), message)


CHECK = Check(RULE, find)
