"""Find two runtimes of one family with the same version."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.runtime import Runtime
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/version-given-twice",
    severity=Severity.ERROR,
    summary="Each version of a runtime is in one file.",
    why="""
        Both files become one object on the cluster, with the image of one of them (seen with
        Trainer 2.3.0). Jobs keep the old image, or run with a new one that their teams did not
        choose.
    """,
    fix="Raise the `version` of the newer one.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    known: dict[tuple[str, int], Runtime] = {}
    # A file that is named after its version is the older one, and comes first in reverse order.
    for runtime in sorted(platform.runtimes, key=lambda each: each.name, reverse=True):
        other = known.setdefault((runtime.family, runtime.version), runtime)
        if other is not runtime:
            message = (
                f"`{runtime.name}` and `{other.name}` are both version {runtime.version} of "
                f"`{runtime.family}`"
            )
            notes = [Note("the other file", other.at / "version")]
            yield RULE.at(runtime.at / "version", message, notes=notes)


CHECK = Check(RULE, find)
