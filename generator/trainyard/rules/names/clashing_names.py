"""Find names that two different objects would have."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules.names._composed import Name, composed

RULE = Rule(
    id="names/clashing-names",
    severity=Severity.ERROR,
    summary="No two objects get the same name from different profile names.",
    why="""
        One object would overwrite the other. For example, two teams would share one volume and read
        each other's files.
    """,
    fix="Rename one of the two in its profile.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    known: dict[tuple[str, str, str], Name] = {}
    reported = set()
    for composed_name in composed(platform):
        first = known.setdefault(
            (composed_name.kind, composed_name.scope, composed_name.name), composed_name
        )
        both = first.parts, composed_name.parts
        if first.parts != composed_name.parts and both not in reported:
            reported.add(both)
            message = (
                f"two different objects would be the {composed_name.kind} `{composed_name.name}`"
            )
            yield RULE.at(composed_name.at, message, notes=[Note("the other object", first.at)])


CHECK = Check(RULE, find)
