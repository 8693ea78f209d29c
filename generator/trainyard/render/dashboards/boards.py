"""The dashboards of a cluster, in the form of the program that shows them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from trainyard.model import names
from trainyard.model.cluster import Cluster
from trainyard.model.monitoring import CONSOLE, GRAFANA_OPERATOR, GRAFANA_SIDECAR
from trainyard.model.named import by_name
from trainyard.render.alerts.rulesets import alerts_of, runbooks_url
from trainyard.render.dashboards.console import console_model
from trainyard.render.dashboards.grafana import grafana_model
from trainyard.render.dashboards.job import OVERVIEW
from trainyard.render.dashboards.panel import Dashboard, Panel
from trainyard.render.dashboards.platform import PLATFORM
from trainyard.render.dashboards.team import TEAM

DASHBOARDS = (PLATFORM, TEAM, OVERVIEW)
"""Every dashboard."""

_MODELS: Mapping[str, Callable[[Cluster, Dashboard], dict[str, Any]]] = {
    CONSOLE: console_model,
    GRAFANA_OPERATOR: grafana_model,
    GRAFANA_SIDECAR: grafana_model,
}


@dataclass(frozen=True, slots=True)
class Board:
    """A dashboard of a cluster, as templates read it."""

    cluster: Cluster
    dashboard: Dashboard

    @property
    def object_name(self) -> str:
        """Name of the object that has it."""
        return names.dashboard(self.dashboard.name)

    @property
    def json(self) -> str:
        """It as the program reads it."""
        model = _MODELS[self.cluster.viewer](self.cluster, self.dashboard)
        return json.dumps(model, indent=2) + "\n"

    @property
    def data(self) -> dict[str, str]:
        """It as the only file of a ConfigMap, which OpenShift's console expects."""
        return {f"{self.object_name}.json": self.json}


def boards(cluster: Cluster) -> Iterator[Board]:
    """Yield the dashboards of a cluster; none where nothing shows them."""
    for dashboard in DASHBOARDS if cluster.viewer else ():
        yield Board(cluster, fitted(cluster, dashboard))


def fitted(cluster: Cluster, dashboard: Dashboard) -> Dashboard:
    """Return a dashboard with the panels whose metrics a cluster has; no row is empty."""
    links = _links(cluster)
    rows = []
    for row in dashboard.rows:
        panels = [_linked(panel, links) for panel in row.panels if panel.concerns(cluster)]
        if panels:
            rows.append(replace(row, panels=tuple(panels)))
    return replace(dashboard, rows=tuple(rows))


def _links(cluster: Cluster) -> dict[str, str]:
    """Return the link to the runbook of each alert of a cluster, in Markdown."""
    url = runbooks_url(cluster)
    alerts = by_name(chain.from_iterable(alerts_of(cluster).values()))
    return {name: f"[{name}]({url}#{name.lower()})" for name in alerts}


def _linked(panel: Panel, links: Mapping[str, str]) -> Panel:
    """Return a panel that ends with the links of its alerts."""
    of_alerts = (links[name] for name in panel.alerts if name in links)
    return replace(panel, bad=" ".join((panel.bad, *of_alerts)))
