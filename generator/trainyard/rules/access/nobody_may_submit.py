"""Find teams of viewers."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import active

RULE = Rule(
    id="access/nobody-may-submit",
    severity=Severity.ERROR,
    summary="Somebody in a team has a role that may submit jobs.",
    why="""
        Every TrainJob is refused, `... cannot create resource "trainjobs" in API group
        "trainer.kubeflow.org"` (seen with Kubernetes 1.36.3), and the team's nodes serve only those
        who borrow.
    """,
    fix="Give a group the role `user` or `admin`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team in active(platform):
        roles = {*team.groups, *(account.role for account in team.accounts)}
        if team.state == "active" and not roles & {"admin", "user"}:
            yield RULE.at(team.at / "groups", f"nobody in team {team.name} may submit jobs")


CHECK = Check(RULE, find)
