"""Find a `domain` that belongs to the owner of a controller."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import all_settings

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
    stated = {each.domain_at: each.domain for each in all_settings(platform)}
    for at, own in stated.items():
        for domain in FOREIGN_DOMAINS:
            if f".{own}".endswith(f".{domain}"):
                yield RULE.at(at, f"`{own}` belongs to the owner of {domain}")


CHECK = Check(RULE, find)
