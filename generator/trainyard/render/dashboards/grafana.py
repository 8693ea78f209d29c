"""A dashboard as Grafana reads it, without plugins.

Fields as in grafana/grafana:kinds/dashboard/dashboard_kind.cue@v11.6.0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import count
from typing import Any

from trainyard.model.cluster import Cluster
from trainyard.render.dashboards.panel import (
    GRAPH,
    NUMBER,
    TABLE,
    Dashboard,
    Panel,
    Row,
    Variable,
)

_TYPES = {GRAPH: "timeseries", NUMBER: "stat", TABLE: "table"}
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
"""The Prometheus that the viewer chooses, the default one at first."""

_WIDTH, _HEIGHT, _COLUMNS = 24, 8, 3
"""Of the grid, of a panel, and panels side by side."""


def grafana_model(cluster: Cluster, dashboard: Dashboard) -> dict[str, Any]:
    """Return the model of a dashboard.

    The cluster is in its title and id, so that a Grafana of several clusters keeps both.
    """
    key = f"{cluster.name}/{dashboard.name}"
    return {
        "uid": f"trainyard-{hashlib.sha256(key.encode()).hexdigest()[:16]}",
        "title": f"Trainyard {cluster.name}: {dashboard.title}",
        "tags": ["trainyard", cluster.name],
        "schemaVersion": 41,
        "editable": False,
        "graphTooltip": 1,
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [_DATASOURCE, *map(_variable, dashboard.variables)]},
        "panels": [*_panels(dashboard.rows)],
    }


_DATASOURCE: dict[str, Any] = {
    "type": "datasource",
    "name": "datasource",
    "label": "Prometheus",
    "query": "prometheus",
    "hide": 0,
}


def _variable(variable: Variable) -> dict[str, Any]:
    return {
        "type": "query",
        "name": variable.name,
        "label": variable.title,
        "datasource": _SOURCE,
        "query": f"label_values({variable.series}, {variable.label})",
        "refresh": 2,
        "sort": 1,
        "hide": 0,
    }


def _panels(rows: tuple[Row, ...]) -> Iterator[dict[str, Any]]:
    """Yield a panel for the title of each row, and those below it."""
    ids, top, width = count(1), 0, _WIDTH // _COLUMNS
    for row in rows:
        grid = {"h": 1, "w": _WIDTH, "x": 0, "y": top}
        yield {
            "id": next(ids),
            "type": "row",
            "title": row.title,
            "collapsed": False,
            "gridPos": grid,
            "panels": [],
        }
        top += 1
        for index, panel in enumerate(row.panels):
            line, place = divmod(index, _COLUMNS)
            grid = {"h": _HEIGHT, "w": width, "x": place * width, "y": top + line * _HEIGHT}
            yield {"id": next(ids), **_panel(panel), "gridPos": grid}
        top += -(-len(row.panels) // _COLUMNS) * _HEIGHT


def _panel(panel: Panel) -> dict[str, Any]:
    targets = [
        _target(panel, query.expr, query.legend, chr(ord("A") + index))
        for index, query in enumerate(panel.queries)
    ]
    return {
        "type": _TYPES[panel.form],
        "title": panel.title,
        "description": f"{panel.shows}\n\n{panel.bad}",
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": panel.unit}, "overrides": []},
        "targets": targets,
        **({"transformations": [_chosen(panel)]} if panel.form == TABLE else {}),
    }


def _target(panel: Panel, expr: str, legend: str, ref: str) -> dict[str, Any]:
    """Return a query; a number and a table show the newest result, a graph those of its range."""
    form = {
        GRAPH: {"range": True, "legendFormat": legend},
        NUMBER: {"instant": True, "legendFormat": "__auto"},
        TABLE: {"instant": True, "format": "table"},
    }
    return {"refId": ref, "datasource": _SOURCE, "expr": expr, **form[panel.form]}


def _chosen(panel: Panel) -> dict[str, Any]:
    """Return what leaves the columns of a table, in their order."""
    options = {
        "excludeByName": {"Time": True, "Value": not panel.value},
        "indexByName": {name: index for index, name in enumerate((*panel.columns, "Value"))},
        "renameByName": {"Value": panel.value} if panel.value else {},
    }
    return {"id": "organize", "options": options}
