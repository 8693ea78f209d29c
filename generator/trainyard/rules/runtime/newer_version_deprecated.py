"""Compare the ends of every two versions that stand beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.runtime import Runtime
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/newer-version-deprecated",
    severity=Severity.WARNING,
    summary="No version of a runtime ends before an older one.",
    why="""
        Who moved to the newer version as he was told is told to move again (seen with Trainer
        2.3.0), and earlier than who stayed: when it ends the older one is all that is left.
    """,
    fix="""
        Take `deprecated` out of the newer version, or give it a later `end` than the older one's.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    families: dict[str, list[Runtime]] = {}
    for runtime in sorted(platform.runtimes, key=lambda each: each.version):
        families.setdefault(runtime.family, []).append(runtime)
    for older, newer in (pair for versions in families.values() for pair in pairwise(versions)):
        if newer.end and newer.end < older.end:
            message = (
                f"version {newer.version} of runtime `{newer.family}` ends on {newer.end}, "
                f"before {older.version}"
            )
            notes = [
                Note(
                    f"version {older.version} ends on {older.end}", older.at / "deprecated" / "end"
                )
            ]
            yield RULE.at(newer.at / "deprecated" / "end", message, notes=notes)


CHECK = Check(RULE, find, every=("runtimes/",))
