"""Find installed versions that are known to fail, alone or together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.cluster import Cluster
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="release/known-bad-pair",
    severity=Severity.ERROR,
    summary="No installed version is known to fail, alone or together with another.",
    why="""
        The message describes what fails. For example, jobs are admitted, never start, and hold
        their quota: Kueue logs `kueue runtime patch not found` (seen with Kueue 0.19.2 and Trainer
        2.1.0).
    """,
    fix="""
        Install the versions of the release, or choose the release that matches the installed
        versions.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        cluster = site.cluster
        for bad in cluster.release.known_bad:
            if bad.applies(cluster.versions):
                components = sorted(bad.components)
                versions = (
                    f"{component} {cluster.versions[component]}" for component in components
                )
                message = f"{' with '.join(versions)}: {bad.consequence}"
                first, *others = _places(cluster, components)
                notes = [Note("the other version", place) for place in others]
                yield RULE.at(first, message, notes=notes)


def _places(cluster: Cluster, components: Iterable[str]) -> list[Pointer]:
    """Return where the profile sets these versions: under `installed`, or else the release."""
    places = [
        cluster.at / "installed" / component
        for component in components
        if cluster.versions[component] != cluster.release.versions[component]
    ]
    return places or [cluster.at / "release"]


CHECK = Check(RULE, find)
