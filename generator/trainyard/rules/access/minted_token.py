"""Find ExternalSecrets that create anything but a plain Secret with values from a store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.diagnostics import Diagnostic, Rule, Severity, Step
from trainyard.model.lookup import EVERY, lookup, mapping
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._components import component_objects, distinct

PLAIN_TYPES = frozenset(
    {
        "Opaque",
        "kubernetes.io/basic-auth",
        "kubernetes.io/dockerconfigjson",
        "kubernetes.io/ssh-auth",
        "kubernetes.io/tls",
    }
)
"""Types of Secret to which no controller adds anything."""


RULE = Rule(
    id="access/minted-token",
    severity=Severity.ERROR,
    summary="An ExternalSecret creates only a plain Secret, with values from a store.",
    why="""
        Anyone who may mount the Secret acts with an account's role (seen with Kubernetes 1.36.3):
        Kubernetes writes a token that never expires into a Secret of type
        kubernetes.io/service-account-token. A generator creates such credentials elsewhere, and a
        `manifest` creates any object, with the operator's rights.
    """,
    fix="""
        Remove this field, so that the Secret is `Opaque`. Grant roles under `groups` or
        `serviceAccounts` in the team's profile.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    yield from distinct(_findings(platform))


def _findings(platform: Platform) -> Iterator[Diagnostic]:
    for handwritten in component_objects(platform, "ExternalSecret"):
        for path, effect in _other_effects(handwritten.body):
            yield RULE.at(handwritten.at.below(path), f"{handwritten.display} {effect}")


def _other_effects(body: dict[str, Any]) -> Iterator[tuple[tuple[Step, ...], str]]:
    """Yield the path of each field that creates more than a plain Secret, and its effect."""
    for path, made in lookup(body, ("spec", "target", "template", "type")):
        if made not in PLAIN_TYPES:
            yield path, f"creates a Secret of type {made}"
    for path, made in lookup(body, ("spec", "target", "manifest", "kind")):
        yield path, f"creates a {made} instead of a Secret"
    for field in ("data", "dataFrom"):
        for path, generator in lookup(body, ("spec", field, EVERY, "sourceRef", "generatorRef")):
            yield path, f"takes values from the generator {mapping(generator).get('kind')}"


CHECK = Check(RULE, find)
