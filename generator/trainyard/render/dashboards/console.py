"""A dashboard as OpenShift's console reads it: the old form, with rows of panels.

It shows graphs, single numbers and tables of one query, chosen values of variables, and no
description (openshift/monitoring-plugin:web/src/components/dashboards/legacy@release-4.21).
"""

from __future__ import annotations

from itertools import count
from typing import Any

from trainyard.model.cluster import Cluster
from trainyard.render.dashboards.panel import GRAPH, NUMBER, TABLE, Dashboard, Panel, Row, Variable

_TYPES = {GRAPH: "graph", NUMBER: "singlestat", TABLE: "table"}


def console_model(cluster: Cluster, dashboard: Dashboard) -> dict[str, Any]:
    """Return the model of a dashboard."""
    ids = count(1)
    return {
        "title": f"Trainyard {cluster.name} / {dashboard.title}",
        "tags": ["trainyard"],
        "schemaVersion": 14,
        "templating": {"list": [_variable(variable) for variable in dashboard.variables]},
        "rows": [_row(row, ids) for row in dashboard.rows],
    }


def _variable(variable: Variable) -> dict[str, Any]:
    """Return a variable; the console reads the query only with a blank after the comma."""
    return {
        "type": "query",
        "name": variable.name,
        "label": variable.title,
        "query": f"label_values({variable.series}, {variable.label})",
        "hide": 0,
        "includeAll": False,
        "options": [],
    }


def _row(row: Row, ids: count[int]) -> dict[str, Any]:
    return {
        "title": row.title,
        "showTitle": True,
        "collapse": False,
        "panels": [{"id": next(ids), **_panel(panel)} for panel in row.panels],
    }


def _panel(panel: Panel) -> dict[str, Any]:
    targets = [
        {"refId": chr(ord("A") + index), "expr": query.expr, "legendFormat": query.legend}
        for index, query in enumerate(panel.queries)
    ]
    return {
        "type": _TYPES[panel.form],
        "title": panel.title,
        "description": f"{panel.shows} {panel.bad}",
        "span": 4,
        "targets": targets,
        **_form(panel),
    }


def _form(panel: Panel) -> dict[str, Any]:
    """Return what only panels of this form have; a number's ``format`` is its unit."""
    if panel.form == NUMBER:
        return {"format": panel.unit}
    if panel.form == TABLE:
        return {"transform": "table", "styles": _columns(panel)}
    return {"legend": {"show": True}, "stack": False, "yaxes": [{"format": panel.unit}]}


def _columns(panel: Panel) -> list[dict[str, Any]]:
    """Return the columns of a table: labels, then the value if it is shown."""
    labels = [{"alias": name, "pattern": name, "type": "string"} for name in panel.columns]
    value = {"alias": panel.value, "pattern": "Value", "type": "number", "unit": panel.unit}
    return [*labels, value] if panel.value else labels
