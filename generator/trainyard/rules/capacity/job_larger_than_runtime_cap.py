"""Compare the largest job with the highest cap among the team's runtimes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import holdings
from trainyard.rules.capacity._jobs import submits

RULE = Rule(
    id="capacity/job-larger-than-runtime-cap",
    severity=Severity.WARNING,
    summary="Some runtime of a team admits its largest job.",
    why="""
        The admission policy takes the smaller of both numbers, so the API server refuses every job
        of that size: `spec.trainer.numNodes is <n> ...; with ... this team may ask for <n> to <n>
        nodes` (seen with Kubernetes 1.36.3).
    """,
    fix="Lower `largestJob`, or raise `maxNodes` of a runtime that was tested at that size.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    known = {runtime.name: runtime for runtime in platform.runtimes}
    for team, _ in holdings(platform):
        caps = [known[name] for name in team.runtimes]
        highest = max(runtime.max_nodes for runtime in caps)
        for space in team.spaces:
            if highest < space.largest_job:
                message = f"{submits(team, space)}, but its runtimes take {highest}"
                notes = [
                    Note(f"{each.name} takes {each.max_nodes}", each.at / "maxNodes")
                    for each in caps
                ]
                cause = (
                    "teams may submit larger jobs than their runtimes "
                    f"{', '.join(team.runtimes)} take: {highest}"
                )
                yield RULE.at(space.largest_job_at, message, notes=notes, cause=cause)


CHECK = Check(RULE, find, each=("quota", "runtimes"))
