"""Defects that the audits of dashboards must find."""

from __future__ import annotations

from tests.audit import dashboards
from tests.audit.defects.defect import LAB, Defect

_CONSOLE = "operators/configmap-trainyard-dashboard-job.yaml"
_GRAFANA = "platform/grafanadashboard-trainyard-dashboard-job.yaml"
_LABEL = ("metadata", "labels", "console.openshift.io/dashboard")

DEFECTS = (
    Defect(dashboards.dashboards_are_where_their_viewer_looks, _CONSOLE, ()),
    Defect(dashboards.dashboards_are_where_their_viewer_looks, _CONSOLE, _LABEL),
    Defect(
        dashboards.dashboards_are_where_their_viewer_looks,
        _CONSOLE,
        ("metadata", "namespace"),
        "trainyard-system",
    ),
    Defect(
        dashboards.dashboards_are_where_their_viewer_looks,
        _GRAFANA,
        ("spec", "instanceSelector"),
        {},
        LAB,
    ),
    Defect(
        dashboards.argo_cd_never_writes_what_the_cluster_trusts,
        "appproject-prod-east-platform.yaml",
        ("spec", "destinations", 0, "namespace"),
        "openshift-config-managed",
    ),
    Defect(
        dashboards.panels_ask_for_recorded_series,
        "platform/prometheusrule-trainyard-dashboards.yaml",
        (),
    ),
    Defect(
        dashboards.dashboards_name_no_team,
        _GRAFANA,
        ("spec", "json"),
        '{"title": "of one team", "panels": [{"title": "nlp"}]}',
        LAB,
    ),
)
