"""Measure every composed name."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules.names._shared import composed

RULE = Rule(
    id="names/too-long",
    severity=Severity.ERROR,
    summary="Every name that is composed from profiles' names is short enough for the cluster.",
    why="""
        The API server refuses label values beyond 63 characters. A TrainJob beyond 44, or 33 with a
        dataset initializer, is accepted, admitted and holds its quota, and never starts: `JobSet
        name is too long, pod names generated for this JobSet will exceed 63 characters` (seen with
        JobSet 0.11.0, in Trainer's log only).
    """,
    fix="Shorten the longest of the names that it is composed of.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in composed(platform):
        if len(each.name) > each.budget:
            message = (
                f"the {each.kind} `{each.name}` has {len(each.name)} characters; "
                f"{each.budget} are allowed"
            )
            yield RULE.at(each.at, message)


CHECK = Check(RULE, find)
