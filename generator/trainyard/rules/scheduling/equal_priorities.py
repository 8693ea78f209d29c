"""Find classes with one value; three of them are two findings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/equal-priorities",
    severity=Severity.WARNING,
    summary="No two priorities of a cluster have the same value.",
    why="""
        Kueue compares values, not names: jobs of the one class never go before those of the other,
        nor evict them (seen with Kueue 0.19.2).
    """,
    fix="Give each class its own value, or remove one.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for one, two in pairwise(
            sorted(site.cluster.priorities, key=lambda each: (each.value, each.name))
        ):
            if one.value == two.value:
                message = (
                    f"priorities `{one.name}` and `{two.name}` both have the value {one.value}"
                )
                yield RULE.at(two.at, message, notes=[Note(f"`{one.name}`", one.at)])


CHECK = Check(RULE, find)
