"""Find labels for Prometheus that Trainyard or Argo CD sets itself."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

_MANAGED_BY = "app.kubernetes.io/managed-by"
_ARGOCD = "argocd.argoproj.io"

RULE = Rule(
    id="monitoring/label-of-trainyard",
    severity=Severity.ERROR,
    summary="No key of `labels` below `monitoring` is one that Trainyard or Argo CD sets.",
    why="""
        Where Trainyard sets the label, its own value stays, so Prometheus finds only some of the
        objects. An Application that tracks its objects by label may take ours for its own, and
        prune them.
    """,
    fix="Use the label by which the Prometheus selects its objects, or remove the key.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        domain = site.cluster.settings.domain
        if monitoring := site.cluster.monitoring:
            for key in sorted(monitoring.labels):
                if setter := _setter(key, domain):
                    at = (monitoring.at / "labels" / key).key()
                    yield RULE.at(at, f"{setter} sets the label `{key}` itself")


def _setter(key: str, domain: str) -> str:
    """Return which program sets a label; empty for one that a Prometheus may select by."""
    prefix = key.rpartition("/")[0]
    if key == _MANAGED_BY or prefix == domain or prefix.endswith(f".{domain}"):
        return "Trainyard"
    return "Argo CD" if prefix == _ARGOCD else ""


CHECK = Check(RULE, find)
