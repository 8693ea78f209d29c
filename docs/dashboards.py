"""The page of docs/reference/ on the dashboards: what each panel shows, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator

from docs.markdown import anchor, cell
from trainyard.render.alerts.rulesets import FAMILIES
from trainyard.render.dashboards.boards import DASHBOARDS
from trainyard.render.dashboards.panel import Panel

_UNITS = {
    "Bps": "bytes per second",
    "bytes": "bytes",
    "percentunit": "%",
    "s": "seconds",
    "short": "number",
}


def dashboards() -> Iterator[str]:
    """Yield the lines of the page: a table for each row of each dashboard."""
    yield from (
        "# Dashboards",
        "",
        "[Show dashboards](../how-to/show-dashboards.md) switches them on.",
        "A cluster has the panels whose metrics it has.",
        "Without GPUs it has none of GPUs, without a fabric none of rails, without prices no cost.",
        "",
        "The runbook of an alert is in `RUNBOOKS.md` of the cluster's tree.",
        "[Sources of the metrics](alerts.md#sources) has where each was read.",
    )
    for dashboard in DASHBOARDS:
        yield from ("", f"## {dashboard.title}", "")
        if dashboard.variables:
            names = ", ".join(f"*{each.title}*" for each in dashboard.variables)
            yield from (f"You choose {names} at the top.", "")
        yield from ("| row | panel | shows | unit | if it looks bad | alerts |", "|" + "---|" * 6)
        for row in dashboard.rows:
            yield from (_line(row.title, panel) for panel in row.panels)


def _line(row: str, panel: Panel) -> str:
    shown = f"{row} | **{panel.title}** | {cell(panel.shows)} | {_unit(panel)} | {cell(panel.bad)}"
    return f"| {shown} | {', '.join(map(_link, panel.alerts))} |"


def _unit(panel: Panel) -> str:
    return panel.value or ("" if panel.columns else _UNITS[panel.unit])


def _link(alert: str) -> str:
    (family,) = (
        name for name, alerts in FAMILIES.items() if alert in {each.name for each in alerts}
    )
    return f"[`{alert}`](alerts.md#{anchor(family)})"
