"""Find runtimes of a team that run on no hardware on which the team has quota."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import holdings

RULE = Rule(
    id="runtime/runtime-without-hardware",
    severity=Severity.ERROR,
    summary="A team has quota on some hardware of each runtime that it lists.",
    why="""
        The team does not get the runtime, and the admission policy refuses its jobs:
        `spec.runtimeRef must name one of the ClusterTrainingRuntimes [...], not ...` (seen with
        Kubernetes 1.36.3).
    """,
    fix="Remove the runtime from the team's `runtimes`, or give the team quota on its hardware.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    known = {runtime.name: runtime for runtime in platform.runtimes}
    for team, flavors in holdings(platform):
        own = {flavor.pool.hardware.name for flavor in flavors}
        for runtime in (known[name] for name in team.runtimes):
            if own.isdisjoint(runtime.hardware):
                message = (
                    f"runtime `{runtime.name}` runs on {', '.join(runtime.hardware)},"
                    f" but team {team.name} has quota on {', '.join(sorted(own))}"
                )
                notes = [Note("the runtime's hardware", runtime.at / "hardware")]
                cause = (
                    f"runtime `{runtime.name}` runs on {', '.join(runtime.hardware)}, on which "
                    "teams have no quota"
                )
                yield RULE.at(team.at / "runtimes", message, notes=notes, cause=cause)


CHECK = Check(RULE, find, each=("quota", "runtimes"))
