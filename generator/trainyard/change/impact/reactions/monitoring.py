"""Reactions of what reads the objects of monitoring: Prometheus' operator, Grafana, a console."""

from __future__ import annotations

from trainyard.change.impact.reaction import quiet
from trainyard.change.impact.reactions.conditions import is_labelled

_OPERATOR = "prometheus-operator/prometheus-operator:pkg/prometheus/server/operator.go@v0.85.0"

_CONSOLE = (
    "openshift/monitoring-plugin:web/src/components/dashboards/legacy/useLegacyDashboards.ts"
    "@56348815"
)
_BY_HAND = "Argo CD does not apply it: a cluster admin does."

REACTIONS = (
    *quiet(
        "ConfigMap",
        "kiwigrid/k8s-sidecar:src/resources.py@b11bdd6",
        when=is_labelled("grafana_dashboard"),
        condition="is a dashboard of Grafana",
        created="Grafana shows the dashboard from then on.",
        changed="Grafana shows the new dashboard.",
        deleted="Grafana shows the dashboard no more.",
    ),
    *quiet(
        "ConfigMap",
        _CONSOLE,
        when=is_labelled("console.openshift.io/dashboard"),
        condition="is a dashboard of OpenShift's console",
        created=f"The console shows the dashboard once it is applied. {_BY_HAND}",
        changed=f"The console shows the new dashboard once it is applied. {_BY_HAND}",
        deleted="The console shows the dashboard until a cluster admin deletes it there.",
    ),
    *quiet(
        "GrafanaDashboard",
        "grafana/grafana-operator:controllers/dashboard_controller.go@v5.24.0",
        created="Each Grafana with the label shows the dashboard from then on.",
        changed="Grafana shows the new dashboard.",
        deleted="The operator deletes the dashboard from Grafana.",
    ),
    *quiet(
        "PodMonitor",
        _OPERATOR,
        created="Prometheus scrapes the pods from then on.",
        changed="Prometheus scrapes by the new settings.",
        deleted="Prometheus scrapes the pods no more. Alerts that read them stop.",
    ),
    *quiet(
        "PrometheusRule",
        _OPERATOR,
        created="Prometheus evaluates the alerts from then on.",
        changed="Prometheus evaluates the new rules. An alert whose labels or name differ begins "
        "its time anew.",
        deleted="Its alerts end, also those that fire.",
    ),
    *quiet(
        "ServiceMonitor",
        _OPERATOR,
        created="Prometheus scrapes the service from then on.",
        changed="Prometheus scrapes by the new settings.",
        deleted="Prometheus scrapes the service no more. Alerts that read it stop.",
    ),
)
