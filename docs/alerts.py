"""The page of docs/reference/ on the alerts: what each reads, and where it was seen to fire."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from docs.markdown import cell
from trainyard.profiles.read import PACKAGE
from trainyard.render.alerts.alert import Alert
from trainyard.render.alerts.rulesets import FAMILIES
from trainyard.yaml_io.reader import read

_METRICS = PACKAGE / "render" / "alerts" / "metrics.yaml"
_SEEN = Path(__file__).parent / "alerts_seen.yaml"


def alerts() -> Iterator[str]:
    """Yield the lines of the page: a table for each family, then the sources of the metrics."""
    yield from (
        "# Alerts",
        "",
        "[Monitoring](../explanation/monitoring.md) explains them.",
        "A cluster has those whose metrics it has, and `RUNBOOKS.md` of its tree has what to do.",
        "promtool fires each in its case and not beside it (`tests/e2e/test_alerts.py`).",
        "Most were seen to fire and to resolve in a real Prometheus beside real controllers.",
        "There each minute of the rules is a second (`tests/e2e/test_alerts_fire.py`).",
    )
    for family, members in FAMILIES.items():
        yield from ("", f"## {family}", "")
        columns = "| alert | severity | after | fixed by | reads | only with | seen to fire |"
        yield from (columns, "|" + "---|" * 7)
        yield from map(_line, members)
    yield from ("", "## Sources", "", "| metrics of | metric | read in |", "|---|---|---|")
    for entry in read(_METRICS.name, _METRICS.read_bytes())[0].value["sources"]:
        tags = ", ".join(dict.fromkeys(entry["tags"].values()))
        for metric in entry["metrics"]:
            yield f"| {entry['component']} | `{metric}` | `{entry['source']}@{tags}` |"


def _line(alert: Alert) -> str:
    who = "the team" if alert.for_team else "the platform"
    only = alert.feature or alert.link
    sources = ", ".join(alert.sources)
    shown = f"`{alert.name}` | {alert.severity} | {alert.hold} | {who} | {cell(sources)}"
    return f"| {shown} | {f'`{only}`' if only else ''} | {cell(_where(alert.name))} |"


def _where(name: str) -> str:
    """Return where an alert was seen to fire, or why only in its case."""
    data = seen()
    if scenario := data["scenario"].get(name):
        return f"scenario {scenario.replace('_', ' ')}"
    if test := data["test"].get(name):
        return f"`{test}`"
    return f"in its case only: {data['cases'][name]}"


@cache
def seen() -> dict[str, dict[str, Any]]:
    """Return the data on what was seen: alert -> scenario or test, and alert -> why it has none."""
    found: dict[str, dict[str, Any]] = read(_SEEN.name, _SEEN.read_bytes())[0].value
    return found
