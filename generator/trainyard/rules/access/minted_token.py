"""Look at what each ExternalSecret makes and of what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.diagnostics import Diagnostic, Rule, Severity, Step
from trainyard.model.lookup import EVERY, lookup, mapping
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._components import brought, once

PLAIN_TYPES = frozenset(
    {
        "Opaque",
        "kubernetes.io/basic-auth",
        "kubernetes.io/dockerconfigjson",
        "kubernetes.io/ssh-auth",
        "kubernetes.io/tls",
    }
)
"""Types of Secret that no controller adds anything to."""


RULE = Rule(
    id="access/minted-token",
    severity=Severity.ERROR,
    summary="An ExternalSecret makes a plain Secret out of what a store holds, and nothing else.",
    why="""
        Into a Secret of type kubernetes.io/service-account-token Kubernetes writes a token without
        end: whoever may mount it acts with the account's role (seen with Kubernetes 1.36.3). A
        generator makes such credentials elsewhere, and a manifest any object at all, with the
        operator's rights.
    """,
    fix="Keep it Opaque; who needs a role gets it under `groups` or `serviceAccounts`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    secrets = brought(platform, "ExternalSecret")
    yield from once(
        RULE.at(each.at.below(path), f"{each.display} {what}")
        for each in secrets
        for path, what in _odd(each.body)
    )


def _odd(body: dict[str, Any]) -> Iterator[tuple[tuple[Step, ...], str]]:
    """Yield the path of whatever makes more than a plain Secret, and what it does."""
    for path, made in lookup(body, ("spec", "target", "template", "type")):
        if made not in PLAIN_TYPES:
            yield path, f"makes a Secret of type {made}"
    for path, made in lookup(body, ("spec", "target", "manifest", "kind")):
        yield path, f"makes a {made} instead of a Secret"
    for field in ("data", "dataFrom"):
        for path, generator in lookup(body, ("spec", field, EVERY, "sourceRef", "generatorRef")):
            yield path, f"takes values of the generator {mapping(generator).get('kind')}"


CHECK = Check(RULE, find)
