"""Find composed names that are too long for the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules.names._composed import composed

RULE = Rule(
    id="names/too-long",
    severity=Severity.ERROR,
    summary="Every name that is composed from profile names is short enough for the cluster.",
    why="""
        The API server refuses label values of more than 63 characters. A TrainJob whose name has
        more than 44, or 33 with a dataset initializer, is accepted and admitted and holds its
        quota, but never starts: `JobSet name is too long, pod names generated for this JobSet will
        exceed 63 characters` (seen with JobSet 0.11.0, in Trainer's log only).
    """,
    fix="Shorten the longest of the profile names that it is composed of.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for composed_name in composed(platform):
        if len(composed_name.name) > composed_name.budget:
            message = (
                f"the {composed_name.kind} `{composed_name.name}` has {len(composed_name.name)} "
                f"characters; at most {composed_name.budget} are allowed"
            )
            yield RULE.at(composed_name.at, message)


CHECK = Check(RULE, find)
