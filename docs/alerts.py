"""The page of docs/reference/ on the alerts: what each reads, from which source."""

from __future__ import annotations

from collections.abc import Iterator

from docs.markdown import cell
from trainyard.profiles.read import PACKAGE
from trainyard.render.alerts.alert import Alert
from trainyard.render.alerts.rulesets import FAMILIES
from trainyard.yaml_io.reader import read

_METRICS = PACKAGE / "render" / "alerts" / "metrics.yaml"


def alerts() -> Iterator[str]:
    """Yield the lines of the page: a table for each family, then the sources of the metrics."""
    yield from (
        "# Alerts",
        "",
        "[Monitoring](../explanation/monitoring.md) explains them.",
        "A cluster has those whose metrics it has, and `RUNBOOKS.md` of its tree has what to do.",
        "promtool fires each in its case and not beside it (`tests/e2e/test_alerts.py`).",
        "Those on jobs that wait or do not run fired with real controllers (`test_states.py`).",
        "No other was seen to fire on a cluster yet.",
    )
    for family, members in FAMILIES.items():
        yield from ("", f"## {family}", "")
        yield from ("| alert | severity | after | fixed by | reads | only with |", "|" + "---|" * 6)
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
    return f"| {shown} | {f'`{only}`' if only else ''} |"
