"""Reactions of Prometheus' operator to the objects that it reads."""

from __future__ import annotations

from trainyard.impact.reactions.reaction import quiet

_OPERATOR = "prometheus-operator/prometheus-operator:pkg/prometheus/server/operator.go@v0.85.0"

REACTIONS = (
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
