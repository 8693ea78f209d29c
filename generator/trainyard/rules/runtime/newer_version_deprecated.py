"""Compare the ends of consecutive versions of a runtime."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.runtime import Runtime
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/newer-version-deprecated",
    severity=Severity.WARNING,
    summary="No version of a runtime ends before an older one.",
    why="""
        Teams that moved to the newer version are warned to move again (seen with Trainer 2.3.0),
        and earlier than the teams that stayed. After its end only the older version is left.
    """,
    fix="Remove `deprecated` from the newer version, or set its `end` later than the older one's.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    families: dict[str, list[Runtime]] = {}
    for runtime in sorted(platform.runtimes, key=lambda each: each.version):
        families.setdefault(runtime.family, []).append(runtime)
    for older, newer in chain.from_iterable(map(pairwise, families.values())):
        if newer.end and newer.end < older.end:
            message = (
                f"version {newer.version} of runtime `{newer.family}` ends on {newer.end}, "
                f"before version {older.version}"
            )
            end = f"version {older.version} ends on {older.end}"
            notes = [Note(end, older.at / "deprecated" / "end")]
            yield RULE.at(newer.at / "deprecated" / "end", message, notes=notes)


CHECK = Check(RULE, find, every=("runtimes/",))
