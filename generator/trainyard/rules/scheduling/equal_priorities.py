"""Find priority classes of one cluster with the same value."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from operator import attrgetter

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/equal-priorities",
    severity=Severity.WARNING,
    summary="No two priorities of a cluster have the same value.",
    why="""
        Jobs of one class never go before jobs of the other, nor evict them (seen with Kueue
        0.19.2): Kueue compares values, not names.
    """,
    fix="Give each class its own value, or remove one.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        by_value = sorted(site.cluster.priorities, key=attrgetter("value", "name"))
        for one, two in pairwise(by_value):
            if one.value == two.value:
                message = (
                    f"priorities `{one.name}` and `{two.name}` both have the value {one.value}"
                )
                yield RULE.at(two.at, message, notes=[Note(f"`{one.name}`", one.at)])


CHECK = Check(RULE, find)
