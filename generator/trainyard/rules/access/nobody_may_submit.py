"""Find active teams that consist of viewers only."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import active

RULE = Rule(
    id="access/nobody-may-submit",
    severity=Severity.ERROR,
    summary="At least one group or service account of a team may submit jobs.",
    why="""
        The API server refuses every TrainJob of the team, `... cannot create resource "trainjobs"
        in API group "trainer.kubeflow.org"` (seen with Kubernetes 1.36.3). Only teams that borrow
        use its nodes.
    """,
    fix="Add a group under `user` or `admin` in `groups` of the team's profile.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team in active(platform):
        roles = {*team.groups, *(account.role for account in team.accounts)}
        if team.state in {"active", "held"} and not roles & {"admin", "user"}:
            message = f"no group or service account of team {team.name} may submit jobs"
            yield RULE.at(team.at / "groups", message)


CHECK = Check(RULE, find)
