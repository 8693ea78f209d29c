"""Find runtimes that no team lists, retired ones left aside."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/unused-runtime",
    severity=Severity.WARNING,
    summary="Some team lists each runtime.",
    why="""
        Nothing is made of it: no cluster gets the runtime, and a job that names it is refused:
        `spec.runtimeRef must name one of the ClusterTrainingRuntimes [...], not ...` (seen with
        Kubernetes 1.36.3).
    """,
    fix="List it in a team's `runtimes`, or remove its profile.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    used = {name for team in platform.teams if team.state != "retired" for name in team.runtimes}
    for runtime in platform.runtimes:
        if runtime.name not in used:
            yield RULE.at(runtime.at, f"no team lists runtime `{runtime.name}`")


CHECK = Check(RULE, find, every=("teams/", "runtimes"))
