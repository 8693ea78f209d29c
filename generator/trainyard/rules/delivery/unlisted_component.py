"""Find components that no team lists; a retired team's components count as listed."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="delivery/unlisted-component",
    severity=Severity.WARNING,
    summary="Each component is listed by a team.",
    why="""
        The component is not delivered (seen with Argo CD 3.5.7: Synced, and nothing of it there)
        and not checked against the platform, although a reviewer takes it for configuration.
    """,
    fix="List it under `components` of a team, or delete its folder.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    listed = {name for team in platform.teams for name in team.components}
    for component in platform.components:
        if component.name not in listed:
            yield RULE.at(component.at, f"no team lists the component `{component.name}`")


CHECK = Check(RULE, find, every=("teams/", "components"))
