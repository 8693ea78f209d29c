"""Compare the largest job of each namespace with the highest limit of the team's runtimes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import holdings
from trainyard.rules.capacity._jobs import largest_job

RULE = Rule(
    id="capacity/job-larger-than-runtime-cap",
    severity=Severity.WARNING,
    summary="At least one runtime of a team allows its `largestJob`.",
    why="""
        The API server refuses every job of that size, because the admission policy applies the
        smaller of `largestJob` and `maxNodes`: `spec.trainer.numNodes is <n> ...; with ... this
        team may ask for <n> to <n> nodes` (seen with Kubernetes 1.36.3).
    """,
    fix="""
        Set `largestJob` to the highest `maxNodes` of the team's runtimes. For larger jobs, raise
        `maxNodes` of a runtime that was tested at that size.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    known = {runtime.name: runtime for runtime in platform.runtimes}
    for team, _ in holdings(platform):
        listed = [known[name] for name in team.runtimes]
        highest = max(runtime.max_nodes for runtime in listed)
        for space in team.spaces:
            if highest < space.largest_job:
                message = f"{largest_job(team, space)}, but its runtimes allow at most {highest}"
                notes = [
                    Note(f"runtime `{each.name}` allows {each.max_nodes}", each.at / "maxNodes")
                    for each in listed
                ]
                cause = (
                    "teams may submit larger jobs than their runtimes "
                    f"{', '.join(team.runtimes)} allow: {highest}"
                )
                hint = (
                    f"Set `largestJob: {{nodes: {highest}}}`. For larger jobs, raise `maxNodes` of "
                    "a runtime that was tested at that size."
                )
                yield RULE.at(space.largest_job_at, message, hint=hint, notes=notes, cause=cause)


CHECK = Check(RULE, find, each=("quota", "runtimes"))
