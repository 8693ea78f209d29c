"""Find clusters that no Prometheus watches."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="monitoring/no-monitoring",
    severity=Severity.WARNING,
    summary="A cluster states the Prometheus that watches it.",
    why="""
        Nobody is notified when a queue stops, or when quota is idle while jobs wait. A job whose
        image is missing holds its nodes until somebody looks. The same holds for nodes and links
        that fail.
    """,
    fix="""
        Set `monitoring` of the cluster, e.g. `monitoring: {stack: openshift}`, and declare in
        `external` who owns the Prometheus.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        if site.cluster.monitoring is None:
            message = f"cluster {site.name} has no `monitoring`: no scrapes, no alerts, no runbooks"
            notes = [
                Note(f"nobody reads the metrics of team {tenant.name}", tenant.team.at / "metrics")
                for tenant in site.tenants
                if tenant.team.metrics
            ]
            yield RULE.at(site.cluster.at / "monitoring", message, notes=notes)


CHECK = Check(RULE, find)
