"""What a dashboard is."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.model.cluster import Cluster

GRAPH, NUMBER, TABLE = "graph", "number", "table"
"""Forms of a panel."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query, and the name of each series of its result: text with ``{{label}}``."""

    expr: str
    legend: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A panel, the same on each cluster that has its metrics.

    Args:
        unit: as OpenShift's console and Grafana call it: ``Bps``, ``bytes``, ``percentunit`` (a
            ratio), ``s`` or ``short`` (a count).
        shows: what its numbers are.
        bad: what to do when it looks bad.
        sources: components whose metrics it reads.
        queries: one for a number or a table.
        form: ``graph``, ``number`` or ``table``.
        columns: of a table: labels.
        value: name of the column with the value; empty where a table has none.
        alerts: that are about the same.
        link: of clusters with such a fabric; of all when empty.
        priced: whether some pool must have a price.
    """

    title: str
    unit: str
    shows: str
    bad: str
    sources: tuple[str, ...]
    queries: tuple[Query, ...]
    form: str = GRAPH
    columns: tuple[str, ...] = ()
    value: str = ""
    alerts: tuple[str, ...] = ()
    link: str = ""
    priced: bool = False

    def concerns(self, cluster: Cluster) -> bool:
        """Return whether a cluster has what it shows."""
        has_price = not self.priced or any(pool.price for pool in cluster.pools)
        return has_price and cluster.has_metrics(self.sources, self.link)


@dataclass(frozen=True, slots=True)
class Row:
    """Panels below a title."""

    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """What a person chooses on top of a dashboard: one of a label's values."""

    name: str
    title: str
    series: str
    label: str


@dataclass(frozen=True, slots=True)
class Dashboard:
    """Rows of panels about one thing.

    Args:
        name: permanent, as links and files have it.
    """

    name: str
    title: str
    variables: tuple[Variable, ...]
    rows: tuple[Row, ...]
