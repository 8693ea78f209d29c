"""Look at who owns the Secret that each ExternalSecret writes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.lookup import mapping
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._components import brought

RULE = Rule(
    id="delivery/secret-of-another",
    severity=Severity.ERROR,
    summary="A component's ExternalSecret writes a Secret of its own.",
    why="""
        With `Merge` it writes keys into a Secret that somebody else made, such as the team's pull
        secret or the token of an account. With `Orphan` or `None` the Secret stays, or is never
        there, when the component goes.
    """,
    fix="Leave `creationPolicy` out, and give `target` a name that no other Secret has.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in brought(platform, "ExternalSecret"):
        policy = mapping(each.body, "spec", "target").get("creationPolicy", "Owner")
        if each.served and policy != "Owner":
            at = each.at / "spec" / "target" / "creationPolicy"
            yield RULE.at(at, f"{each.display} writes with `creationPolicy: {policy}`")


CHECK = Check(RULE, find)
