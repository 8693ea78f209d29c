"""Find minor versions that differ from the release's, except those known to fail."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.cluster import Cluster
from trainyard.model.platform import Platform
from trainyard.model.version import numbers
from trainyard.rules._check import Check

RULE = Rule(
    id="release/untested-version",
    severity=Severity.WARNING,
    summary="The installed versions are those that were tested together for the release.",
    why="""
        This combination was never run. A component may refuse or drop fields of this tree, or jobs
        never start. Each pair of which no job starts accepted every object, and was found only by a
        job that never ran.
    """,
    fix="Install the release's version, or waive this and state as the reason what you have run.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        cluster = site.cluster
        reported = _known_to_fail(cluster)
        for component, tested in cluster.release.versions.items():
            installed = cluster.versions[component]
            if component not in reported and numbers(installed)[:2] != numbers(tested)[:2]:
                message = (
                    f"{component} {installed} was not tested with {cluster.release.name}, "
                    f"{tested} was{_difference(cluster, component)}"
                )
                yield RULE.at(cluster.at / "installed" / component, message)


def _difference(cluster: Cluster, component: str) -> str:
    """Return what is known of two versions; empty for those that nobody compared."""
    changes = cluster.release.changes.get(component)
    if changes is None:
        return ""
    versions = cluster.versions[component], cluster.release.versions[component]
    steps = changes.between(*versions)
    if not steps and changes.compares(*versions):
        return "; in no field that this tree writes do they differ"
    return "".join(f"; since {at}, {what}" for at, what in steps.items())


def _known_to_fail(cluster: Cluster) -> set[str]:
    """Return the components that `release/known-bad-pair` reports."""
    components: set[str] = set()
    for bad in cluster.release.known_bad:
        if bad.applies(cluster.versions):
            components.update(bad.components)
    return components


CHECK = Check(RULE, find)
