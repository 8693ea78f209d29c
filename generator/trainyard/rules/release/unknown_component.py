"""Find installed versions of components that the release does not have."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="release/unknown-component",
    severity=Severity.ERROR,
    summary="Every component in `installed` is one of the release.",
    why="""
        A combination that hangs can pass the checks, because a misspelt component is compared with
        nothing.
    """,
    fix="Use a component name of the release.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        known = site.cluster.release.versions
        for component in sorted(set(site.cluster.versions) - set(known)):
            at = (site.cluster.at / "installed" / component).key()
            message = f"release {site.cluster.release.name} has no component `{component}`"
            yield RULE.at(at, message, hint=f"Use one of: {', '.join(sorted(known))}.")


CHECK = Check(RULE, find)
