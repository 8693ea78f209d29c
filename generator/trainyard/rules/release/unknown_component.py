"""Find versions of what the release does not name."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="release/unknown-component",
    severity=Severity.ERROR,
    summary="Each installed version is that of a component of the release.",
    why="A misspelt component is compared with nothing, so a combination that hangs would pass.",
    fix="Use a name of the release's own list.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        known = site.cluster.release.versions
        for component in sorted(set(site.cluster.versions) - set(known)):
            at = (site.cluster.at / "installed" / component).key()
            message = f"release {site.cluster.release.name} has no component `{component}`"
            yield RULE.at(at, message, hint=f"there is: {', '.join(sorted(known))}.")


CHECK = Check(RULE, find)
