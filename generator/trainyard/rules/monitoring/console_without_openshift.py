"""Find clusters whose dashboards are in a console that does not have their metrics."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.monitoring import CONSOLE, OPENSHIFT
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="monitoring/console-without-openshift",
    severity=Severity.ERROR,
    summary="Dashboards are in OpenShift's console only with the monitoring stack `openshift`.",
    why="""
        The console asks OpenShift's own Prometheus, which evaluates no rule of another stack. Each
        panel that reads one stays empty.
    """,
    fix="Set `stack: openshift`, or show them in Grafana: `dashboards: grafana-operator`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        monitoring = site.cluster.monitoring
        if monitoring and monitoring.dashboards == CONSOLE and monitoring.stack != OPENSHIFT:
            message = f"OpenShift's console has no metrics of the stack `{monitoring.stack}`"
            yield RULE.at(monitoring.at / "dashboards", message)


CHECK = Check(RULE, find)
