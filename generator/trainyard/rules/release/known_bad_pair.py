"""Compare each cluster's versions with every combination that its release warns of."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules.release._shared import applies

RULE = Rule(
    id="release/known-bad-pair",
    severity=Severity.ERROR,
    summary="The installed versions are not a combination that is known to hang.",
    why="""
        Every object is accepted and looks healthy, and no job runs; the message says what was seen.
        E.g. jobs are admitted and never start, and hold their quota: Kueue logs `kueue runtime
        patch not found` (seen with Kueue 0.19.2 and Trainer 2.1.0).
    """,
    fix="""
        Install the versions of the release, or choose the release that goes with what is installed.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        cluster = site.cluster
        for bad in cluster.release.known_bad:
            if applies(bad, cluster.versions):
                pair = " with ".join(
                    f"{component} {cluster.versions[component]}"
                    for component in sorted(bad.components)
                )
                own = [
                    each
                    for each in sorted(bad.components)
                    if cluster.versions[each] != cluster.release.versions[each]
                ]
                places = [cluster.at / "installed" / each for each in own] or [
                    cluster.at / "release"
                ]
                notes = [Note("the other", place) for place in places[1:]]
                yield RULE.at(places[0], f"{pair}: {bad.consequence}", notes=notes)


CHECK = Check(RULE, find)
