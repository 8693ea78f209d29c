"""Find components that no team names; one that is retired keeps its own."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="delivery/unlisted-component",
    severity=Severity.WARNING,
    summary="Some team lists each component.",
    why="""
        It looks like configuration in review, but is neither delivered (seen with Argo CD 3.5.7:
        Synced, and nothing of it there) nor checked against the platform.
    """,
    fix="List it under `components` of a team, or remove its folder.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    listed = {name for team in platform.teams for name in team.components}
    for component in platform.components:
        if component.name not in listed:
            yield RULE.at(component.at, f"no team lists the component `{component.name}`")


CHECK = Check(RULE, find, every=("teams/", "components"))
