"""Compare the alerts of a cluster: which there are, how severe, and how long a job may wait."""

from __future__ import annotations

from itertools import starmap

from trainyard.change.impact.model import Sides
from trainyard.change.impact.states import AlertChange, WaitingChange
from trainyard.change.impact.values import differing, differing_or_absent
from trainyard.change.objects import Objects, of_kind
from trainyard.model.lookup import EVERY, mappings, text
from trainyard.model.platform import Site


def alert_changes(sides: Sides) -> tuple[AlertChange, ...]:
    """Return each alert that comes, goes or has another severity; sorted."""
    before, after = _severities(sides.before), _severities(sides.after)
    return tuple(starmap(AlertChange, differing_or_absent(before, after, "")))


def _severities(objects: Objects) -> dict[str, str]:
    """Return the severity of each alert. Rules of one alert have the same."""
    severities = {}
    for manifest in of_kind(objects, "PrometheusRule"):
        for rule in mappings(manifest.body, "spec", "groups", EVERY, "rules"):
            if alert := text(rule, "alert"):
                severities[alert] = text(rule, "labels", "severity")
    return severities


def waiting_changes(sides: Sides) -> tuple[WaitingChange, ...]:
    """Return each priority on both sides whose jobs may wait for another time; sorted."""
    return tuple(starmap(WaitingChange, differing(_waiting(sides.old), _waiting(sides.new))))


def _waiting(site: Site | None) -> dict[str, int]:
    """Return the seconds that a job of each priority may wait, where a Prometheus watches."""
    return site.cluster.waiting_limits if site and site.cluster.monitoring else {}
