"""Versions that are installed against what is known of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.release import KnownBad
from trainyard.rules._check import Check

KNOWN_BAD_PAIR = Rule(
    id="release/known-bad-pair",
    severity=Severity.ERROR,
    summary="The installed versions are not a combination that is known to hang.",
    why=(
        "Every object is accepted and looks healthy, and no job runs; the message says what was seen. E.g. jobs are"
        " admitted and never start, and hold their quota: Kueue logs `kueue runtime patch not found` (seen with Kueue"
        " 0.19.2 and Trainer 2.1.0)."
    ),
    fix="Install the versions of the release, or choose the release that goes with what is installed.",
)
UNKNOWN_COMPONENT = Rule(
    id="release/unknown-component",
    severity=Severity.ERROR,
    summary="Each installed version is that of a component of the release.",
    why="A misspelt component is compared with nothing, so a combination that hangs would pass.",
    fix="Use a name of the release's own list.",
)
UNTESTED_VERSION = Rule(
    id="release/untested-version",
    severity=Severity.WARNING,
    summary="The installed versions are those that were run together for the release.",
    why=(
        "Nobody has seen a job start with this combination: each pair that is known to hang accepted every object and"
        " was found by a job that never ran."
    ),
    fix="Install the release's version, or waive this with what you have run.",
)


def known_bad_pair(platform: Platform) -> Iterator[Diagnostic]:
    """Compare each cluster's versions with every combination that its release warns of."""
    for site in platform.sites:
        cluster = site.cluster
        for bad in cluster.release.known_bad:
            if _applies(bad, cluster.versions):
                pair = " with ".join(
                    f"{component} {cluster.versions[component]}" for component in sorted(bad.components)
                )
                own = [
                    each for each in sorted(bad.components) if cluster.versions[each] != cluster.release.versions[each]
                ]
                places = [cluster.at / "installed" / each for each in own] or [cluster.at / "release"]
                notes = [Note("the other", place) for place in places[1:]]
                yield KNOWN_BAD_PAIR.at(places[0], f"{pair}: {bad.consequence}", notes=notes)


def untested_version(platform: Platform) -> Iterator[Diagnostic]:
    """Find versions that differ from the release's, patches aside; what is known to hang is told of already."""
    for cluster in (site.cluster for site in platform.sites):
        hangs = (bad.components for bad in cluster.release.known_bad if _applies(bad, cluster.versions))
        told = {component for components in hangs for component in components}
        for component, tested in cluster.release.versions.items():
            installed = cluster.versions[component]
            if component not in told and _numbers(installed)[:2] != _numbers(tested)[:2]:
                message = f"{component} {installed} was not run with the rest of {cluster.release.name}, {tested} was"
                yield UNTESTED_VERSION.at(cluster.at / "installed" / component, message)


def unknown_component(platform: Platform) -> Iterator[Diagnostic]:
    """Find versions of what the release does not name."""
    for site in platform.sites:
        known = site.cluster.release.versions
        for component in sorted(set(site.cluster.versions) - set(known)):
            at = (site.cluster.at / "installed" / component).key()
            message = f"release {site.cluster.release.name} has no component `{component}`"
            yield UNKNOWN_COMPONENT.at(at, message, hint=f"there is: {', '.join(sorted(known))}.")


def _applies(bad: KnownBad, versions: Mapping[str, str]) -> bool:
    """Tell whether every component is installed in a version between its bounds."""
    return all(
        component in versions and _numbers(start) <= _numbers(versions[component]) and _below(versions[component], end)
        for component, (start, end) in bad.components.items()
    )


def _below(version: str, end: str) -> bool:
    return not end or _numbers(version) < _numbers(end)


def _numbers(version: str) -> tuple[int, ...]:
    """Return a version's numbers, so that 0.9 comes before 0.10; an open bound has none and comes before all."""
    return tuple(int(part) for part in version.split(".") if part)


CHECKS = (
    Check(KNOWN_BAD_PAIR, known_bad_pair),
    Check(UNTESTED_VERSION, untested_version),
    Check(UNKNOWN_COMPONENT, unknown_component),
)
