"""Find names that two different objects get."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules.names._shared import Name, composed

RULE = Rule(
    id="names/clashing-names",
    severity=Severity.ERROR,
    summary="No two objects get the same name from different profiles' names.",
    why="""
        One object would overwrite the other: e.g. two teams would share one volume and read each
        other's files.
    """,
    fix="Rename one of the two.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    known: dict[tuple[str, str, str], Name] = {}
    for each in composed(platform):
        first = known.setdefault((each.kind, each.scope, each.name), each)
        if first.parts != each.parts:
            message = f"two objects would be the {each.kind} `{each.name}`"
            yield RULE.at(each.at, message, notes=[Note("the other", first.at)])


CHECK = Check(RULE, find)
