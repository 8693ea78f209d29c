"""Find clusters with a release of the repository whose controllers were never run together."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="release/not-rehearsed",
    severity=Severity.WARNING,
    summary="A release of the repository that a cluster names was rehearsed.",
    why="""
        Schemas show that the API server takes each field, and not that a job starts: Kueue 0.19.2
        with Trainer 2.1.0 accepted every object, and no job ever ran.
    """,
    fix="""
        Run `trainyard rehearse --build`, then `trainyard rehearse`: if every promise holds, it
        writes `tested: rehearsed` with the day, and the new digest. Or run the operators together
        on a test cluster with a job of each runtime, and write both by hand; or waive this and
        state as the reason what you have run.
    """,
)

_TRIED = {
    "none": "no tree was checked against its schemas",
    "schemas": "only its schemas were tried",
}


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        release = site.cluster.release
        if release.digest and release.tested != "rehearsed":
            message = f"release {release.name} was not rehearsed: {_TRIED[release.tested]}"
            notes = [Note("how far it was tried", release.at / "tested")]
            yield RULE.at(site.cluster.at / "release", message, notes=notes)


CHECK = Check(RULE, find)
