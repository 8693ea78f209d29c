"""Find service accounts with a role in teams whose access is controlled."""

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
        Where a regulation asks for access control, only people have roles in the team, each by his
        own name.
    """,
    why=f"""
        The API server knows the service account, not who used it: whoever has its token, or starts
        a pod as it, submits and deletes jobs in its name (seen with Kubernetes 1.36.3), and the
        audit log names nobody else. {NOT_ENFORCED}
    """,
    fix="Take the account away; a pipeline can submit with the token of the person who started it.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team in active(platform):
        if compliance := asking(team, "accessControl"):
            for account in team.accounts:
                message = (
                    f"team {team.name} is under {compliance.name}, and account "
                    f"`{account.name}` is no person"
                )
                yield RULE.at(account.at.key(), message)


CHECK = Check(RULE, find)
