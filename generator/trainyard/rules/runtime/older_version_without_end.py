"""Look at every version that has a newer one beside it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.runtime import Runtime
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/older-version-without-end",
    severity=Severity.WARNING,
    summary="Every version of a runtime but the newest is deprecated and has an end.",
    why="""
        Nobody is told to move: Trainer warns at each submission of a deprecated runtime only (seen
        with Trainer 2.3.0), and an image that nobody patches any more stays in use for ever.
    """,
    fix='Set `deprecated: {end: "2027-03-31"}` in the older version\'s file.',
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    newest: dict[str, Runtime] = {}
    for runtime in sorted(platform.runtimes, key=lambda each: each.version):
        newest[runtime.family] = runtime
    for runtime in platform.runtimes:
        newer = newest[runtime.family]
        if newer.version > runtime.version and not runtime.end:
            than = f"version {newer.version}{', which is deprecated itself' if newer.end else ''}"
            message = (
                f"version {runtime.version} of runtime `{runtime.family}` has no end beside {than}"
            )
            yield RULE.at(runtime.at / "version", message, notes=[Note("the newest", newer.at)])


CHECK = Check(RULE, find)
