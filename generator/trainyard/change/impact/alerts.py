"""Compare the alerts of a cluster: which there are, how severe, and how long a job may wait."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.change.impact.model import Sides
from trainyard.change.impact.states import AlertChange, WaitingChange
from trainyard.model.identity import Identity
from trainyard.model.lookup import EVERY, mappings, text
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site


def alert_changes(sides: Sides) -> tuple[AlertChange, ...]:
    """Return each alert that comes, goes or has another severity; sorted."""
    before, after = _severities(sides.before), _severities(sides.after)
    return tuple(
        AlertChange(alert, before.get(alert, ""), after.get(alert, ""))
        for alert in sorted({*before, *after})
        if before.get(alert) != after.get(alert)
    )


def _severities(objects: Mapping[Identity, Manifest]) -> dict[str, str]:
    """Return the severity of each alert. Rules of one alert have the same."""
    return {
        alert: text(rule, "labels", "severity")
        for identity, manifest in objects.items()
        if identity.kind == "PrometheusRule"
        for rule in mappings(manifest.body, "spec", "groups", EVERY, "rules")
        if (alert := text(rule, "alert"))
    }


def waiting_changes(sides: Sides) -> tuple[WaitingChange, ...]:
    """Return each priority on both sides whose jobs may wait for another time; sorted."""
    before, after = _waiting(sides.old), _waiting(sides.new)
    return tuple(
        WaitingChange(priority, before[priority], after[priority])
        for priority in sorted(before.keys() & after.keys())
        if before[priority] != after[priority]
    )


def _waiting(site: Site | None) -> dict[str, int]:
    """Return the seconds that a job of each priority may wait, where a Prometheus watches."""
    return site.cluster.waiting_limits if site and site.cluster.monitoring else {}
