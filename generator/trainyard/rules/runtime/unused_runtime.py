"""Find runtimes that no team lists; retired teams do not count."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import active

RULE = Rule(
    id="runtime/unused-runtime",
    severity=Severity.WARNING,
    summary="At least one team lists each runtime.",
    why="""
        No cluster gets the runtime, and a job that names it is refused: `spec.runtimeRef must name
        one of the ClusterTrainingRuntimes [...], not ...` (seen with Kubernetes 1.36.3).
    """,
    fix="List it in a team's `runtimes`, or remove its profile.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    used: set[str] = set()
    for team in active(platform):
        used.update(team.runtimes)
    for runtime in platform.runtimes:
        if runtime.name not in used:
            yield RULE.at(runtime.at, f"no team lists runtime `{runtime.name}`")


CHECK = Check(RULE, find, every=("teams/", "runtimes"))
