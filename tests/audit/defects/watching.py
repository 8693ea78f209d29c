"""Defects that the audits of monitoring must find."""

from __future__ import annotations

from tests.audit import watching
from tests.audit.defects.defect import Defect

_MONITOR = "teams/science/podmonitor-metrics.yaml"
_POLICY = "teams/science/networkpolicy-metrics.yaml"
_ENDPOINT = ("spec", "podMetricsEndpoints", 0)
_SCRAPED = watching.own_metrics_are_scraped_where_a_team_states_them
_OPEN = watching.only_prometheus_reaches_the_port_of_metrics

DEFECTS = (
    Defect(_SCRAPED, _MONITOR, ()),
    Defect(_SCRAPED, _MONITOR, ("spec", "namespaceSelector"), {"any": True}),
    Defect(_SCRAPED, _MONITOR, ("spec", "sampleLimit")),
    Defect(_SCRAPED, _MONITOR, (*_ENDPOINT, "honorLabels"), True),
    Defect(_SCRAPED, _MONITOR, (*_ENDPOINT, "followRedirects")),
    Defect(_SCRAPED, _MONITOR, (*_ENDPOINT, "metricRelabelings", 0, "regex"), "kueue_.*"),
    Defect(_SCRAPED, _MONITOR, (*_ENDPOINT, "relabelings", 1, "replacement"), "$1:2222"),
    Defect(_OPEN, _POLICY, ()),
    Defect(_OPEN, _POLICY, ("spec", "ingress", 0, "ports")),
    Defect(_OPEN, _POLICY, ("spec", "ingress", 0, "ports", 0, "port"), 2222),
    Defect(_OPEN, _POLICY, ("spec", "podSelector"), {}),
)
