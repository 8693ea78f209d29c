"""Find pools of one queue with the same preference."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules.scheduling._flavors import neighbours

RULE = Rule(
    id="scheduling/equal-preference",
    severity=Severity.WARNING,
    summary="The pools of one queue have different preferences.",
    why="""
        Jobs fill these pools in the order of the pools' names, whichever is better: Kueue tries
        flavors in the order of the queue (seen with Kueue 0.19.2).
    """,
    fix="Give each pool its own `preference`, the lowest to the pool that jobs should fill first.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for one, two, queue in neighbours(platform):
        if one.preference == two.preference:
            message = (
                f"pools `{one.name}` and `{two.name}` of queue {queue} have the same preference, "
                f"{one.preference}: `{one.name}` comes first by its name"
            )
            notes = [Note(f"pool `{one.name}`", one.at / "preference")]
            yield RULE.at(two.at / "preference", message, notes=notes)


CHECK = Check(RULE, find)
