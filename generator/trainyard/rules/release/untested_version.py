"""Find versions that differ from the release's, patches aside; what is known to hang is told of already."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._versions import numbers
from trainyard.rules.release._shared import applies

RULE = Rule(
    id="release/untested-version",
    severity=Severity.WARNING,
    summary="The installed versions are those that were run together for the release.",
    why="""
        Nobody has seen a job start with this combination: each pair that is known to hang accepted
        every object and was found by a job that never ran.
    """,
    fix="Install the release's version, or waive this with what you have run.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for cluster in (site.cluster for site in platform.sites):
        hangs = (
            bad.components for bad in cluster.release.known_bad if applies(bad, cluster.versions)
        )
        told = {component for components in hangs for component in components}
        for component, tested in cluster.release.versions.items():
            installed = cluster.versions[component]
            if component not in told and numbers(installed)[:2] != numbers(tested)[:2]:
                message = (
                    f"{component} {installed} was not run with the rest of "
                    f"{cluster.release.name}, {tested} was"
                )
                yield RULE.at(cluster.at / "installed" / component, message)


CHECK = Check(RULE, find)
