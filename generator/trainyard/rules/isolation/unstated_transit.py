"""Find teams without a required decision on encryption between nodes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._compliance import NOT_ENFORCED, asking
from trainyard.rules._iterate import active

RULE = Rule(
    id="isolation/unstated-transit",
    severity=Severity.ERROR,
    summary="""
        Where a regulation requires the decision, a team states whether its data must be encrypted
        between nodes.
    """,
    why=f"""
        Without a decision the fastest network is used, unencrypted. RDMA cannot be encrypted, so
        someone must choose between its speed and encryption. {NOT_ENFORCED}
    """,
    fix="""
        Set `encryptionInTransit` of the team to `true`, or to `false` and keep the reason with your
        risk assessment.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team in active(platform):
        compliance = asking(team, "encryptionInTransit")
        if compliance and team.encrypts_transit is None:
            message = (
                f"team {team.name} is under {compliance.name}, but does not set "
                "`encryptionInTransit`"
            )
            yield RULE.at(team.at / "compliance", message)


CHECK = Check(RULE, find)
