"""Look at the end of the domain."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

FOREIGN_DOMAINS = (
    "argoproj.io",
    "cncf.io",
    "k8s.io",
    "kubeflow.org",
    "kubernetes.io",
    "nvidia.com",
    "openshift.io",
    "opendatahub.io",
    "x-k8s.io",
)
"""Domains whose labels the controllers around us read."""


RULE = Rule(
    id="names/foreign-domain",
    severity=Severity.ERROR,
    summary="The domain of labels and annotations is the platform team's own.",
    why="""
        Labels below it belong to its owner's controllers: ours could be taken for one with a
        meaning, now or after an upgrade, and the API server keeps some for itself.
    """,
    fix="Use a domain of yours, e.g. ml.example.com.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    settings = platform.settings
    for domain in FOREIGN_DOMAINS:
        if f".{settings.domain}".endswith(f".{domain}"):
            yield RULE.at(
                settings.at / "domain", f"`{settings.domain}` belongs to the owner of {domain}"
            )


CHECK = Check(RULE, find)
