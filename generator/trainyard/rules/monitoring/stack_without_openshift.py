"""Find clusters whose monitoring stack their release does not have."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.monitoring import OPENSHIFT
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="monitoring/stack-without-openshift",
    severity=Severity.ERROR,
    summary="Only a release with OpenShift has the monitoring stack `openshift`.",
    why="""
        No Prometheus of the cluster reads the objects, or its operator is not there and Argo CD
        can't create them. No alert fires.
    """,
    fix="Set `stack: prometheus-operator`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        monitoring, release = site.cluster.monitoring, site.cluster.release
        absent = "user-workload-monitoring" not in release.features
        if monitoring and monitoring.stack == OPENSHIFT and absent:
            message = f"release {release.name} has no user workload monitoring"
            yield RULE.at(monitoring.at / "stack", message)


CHECK = Check(RULE, find)
