"""Find a `domain` that belongs to the owner of a controller."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

FOREIGN_DOMAINS = (
    "amd.com",
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
"""Domains whose labels the platform's controllers read."""


RULE = Rule(
    id="names/foreign-domain",
    severity=Severity.ERROR,
    summary="The domain of labels and annotations is the platform team's own.",
    why="""
        A controller may act on Trainyard's labels, now or after an upgrade, because labels below
        the domain belong to its owner. The API server reserves some of them for itself.
    """,
    fix="Set `domain` to a domain of your own, e.g. ml.example.com.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    settings = platform.settings
    for domain in FOREIGN_DOMAINS:
        if f".{settings.domain}".endswith(f".{domain}"):
            message = f"`{settings.domain}` belongs to the owner of {domain}"
            yield RULE.at(settings.at / "domain", message)


CHECK = Check(RULE, find)
