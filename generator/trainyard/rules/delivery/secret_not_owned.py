"""Find ExternalSecrets that do not own the Secret that they write."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.lookup import mapping
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._components import component_objects

RULE = Rule(
    id="delivery/secret-not-owned",
    severity=Severity.ERROR,
    summary="A component's ExternalSecret owns the Secret that it writes.",
    why="""
        With `Merge`, the ExternalSecret overwrites keys of a Secret that something else created,
        such as the team's pull secret or the token of an account. With `Orphan`, the Secret remains
        when the component is removed. With `None`, it is never created.
    """,
    fix="Remove `creationPolicy`, and set `target.name` to a name that no other Secret has.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for handwritten in component_objects(platform, "ExternalSecret"):
        policy = mapping(handwritten.body, "spec", "target").get("creationPolicy", "Owner")
        if handwritten.served and policy != "Owner":
            at = handwritten.at / "spec" / "target" / "creationPolicy"
            yield RULE.at(at, f"{handwritten.display} writes with `creationPolicy: {policy}`")


CHECK = Check(RULE, find)
