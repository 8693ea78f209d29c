"""Find teams that admission and network do not hold to the rules yet."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import active

RULE = Rule(
    id="isolation/not-enforced",
    severity=Severity.WARNING,
    summary="No team has a stage before `enforce`.",
    why="""
        The team is not isolated: every pod of the cluster whose own policies permit it reaches its
        pods, and its pods reach whatever admits them.
        Members make what the policies refuse elsewhere (seen with Kubernetes 1.36.3), also a
        privileged pod, which owns its node and all that runs there.
        To other teams it is what a namespace outside of teams is.
    """,
    fix="""
        Read the audit log's annotation `validation.policy.admission.k8s.io/validation_failure`,
        change what it names, then set `stage: warn`, and at last remove `adopt`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team in active(platform):
        stage = team.stage
        if not stage.enforces:
            does = "records" if stage.observes else "warns of"
            message = (
                f"until {stage.until} team {team.name} is not isolated: its network is open, and "
                f"admission only {does} what breaks its rules"
            )
            note = Note(f"the reason is: {stage.reason}", stage.at / "reason")
            yield RULE.at(stage.at / "stage", message, notes=[note])


CHECK = Check(RULE, find)
