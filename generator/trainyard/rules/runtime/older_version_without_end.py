"""Find versions of a runtime that have no end, although a newer version exists."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.runtime import Runtime
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/older-version-without-end",
    severity=Severity.WARNING,
    summary="Every version of a runtime except the newest is deprecated and has an end.",
    why="""
        An image that is no longer patched stays in use permanently, because teams are not asked to
        move: Trainer warns at each submission of a deprecated runtime only (seen with Trainer
        2.3.0).
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
            message = (
                f"version {runtime.version} of runtime `{runtime.family}` has no end, although "
                f"version {newer.version} exists"
            )
            if newer.end:
                message += ", which is deprecated itself"
            notes = [Note("the newest version", newer.at)]
            yield RULE.at(runtime.at / "version", message, notes=notes)


CHECK = Check(RULE, find)
