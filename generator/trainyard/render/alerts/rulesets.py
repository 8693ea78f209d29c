"""Families of rules of a cluster, as PrometheusRules have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from trainyard.model import names
from trainyard.model.cluster import Cluster
from trainyard.model.platform import Site
from trainyard.render.alerts import (
    admission,
    controllers,
    delivery,
    gpus,
    jobs,
    nodes,
    queues,
    rails,
    states,
    storage,
)
from trainyard.render.alerts.alert import PLATFORM, Alert
from trainyard.render.alerts.facts import facts
from trainyard.render.alerts.record import Record
from trainyard.render.alerts.records import records

FAMILIES: Mapping[str, tuple[Alert, ...]] = {
    "queues": queues.ALERTS,
    "jobs": jobs.ALERTS,
    "states": states.ALERTS,
    "delivery": delivery.ALERTS,
    "storage": storage.ALERTS,
    "nodes": nodes.ALERTS + gpus.ALERTS,
    "rails": rails.ALERTS,
    "admission": admission.ALERTS,
    "controllers": controllers.ALERTS,
}
"""Every alert, by the family whose PrometheusRule has it."""


@dataclass(frozen=True, slots=True)
class RuleSet:
    """A PrometheusRule."""

    family: str
    rules: list[dict[str, object]]

    @property
    def name(self) -> str:
        """Name of the object and of its group."""
        return names.rules(self.family)

    @property
    def interval(self) -> str:
        """Time between two evaluations; a series that is not written for 5 minutes is gone."""
        return "1m"


def rule_sets(site: Site) -> Iterator[RuleSet]:
    """Yield the facts of a cluster, what its dashboards read, and each family of its alerts."""
    yield RuleSet("facts", list(map(_recorded, facts(site))))
    if site.cluster.viewer:
        yield RuleSet("dashboards", list(map(_recorded, records(site))))
    for family, alerts in alerts_of(site.cluster).items():
        yield RuleSet(family, [_rule(site.cluster, alert) for alert in alerts])


def alerts_of(cluster: Cluster) -> dict[str, list[Alert]]:
    """Return the alerts whose metrics a cluster has, as it wants them; no empty family."""
    families = {}
    for family, alerts in FAMILIES.items():
        concerned = [_as_wanted(alert, cluster) for alert in alerts if alert.concerns(cluster)]
        if concerned:
            families[family] = concerned
    return families


def _as_wanted(alert: Alert, cluster: Cluster) -> Alert:
    stated = cluster.monitoring.severity if cluster.monitoring else {}
    return replace(alert, severity=stated.get(alert.name, alert.severity))


def _recorded(record: Record) -> dict[str, object]:
    # The labels tell it from its neighbours: Git finds a new one beside a changed number.
    labels = {"labels": dict(record.labels)} if record.labels else {}
    return {"record": record.name, **labels, "expr": record.expr}


def _rule(cluster: Cluster, alert: Alert) -> dict[str, object]:
    """Return an alert as a PrometheusRule has it."""
    team = {} if alert.for_team else {"team": PLATFORM}
    own = {"cluster": cluster.name, "severity": alert.severity, **team}
    return {
        "alert": alert.name,
        "expr": alert.expr,
        **({"for": alert.hold} if alert.hold else {}),
        "labels": {**own, **alert.labels},
        "annotations": {
            "summary": alert.summary,
            "runbook_url": f"{runbooks_url(cluster)}#{alert.name.lower()}",
        },
    }


def runbooks_url(cluster: Cluster) -> str:
    """Return the address of a cluster's runbooks in the repository's own pages."""
    settings = cluster.settings
    home = web_address(settings.repository)
    blob = "-/blob" if "gitlab" in home else "blob"
    return f"{home}/{blob}/{settings.branch}/{settings.path}/{cluster.name}/RUNBOOKS.md"


def web_address(repository: str) -> str:
    """Return the pages of a Git repository, which are on the host that ssh reaches too."""
    plain = repository.removesuffix("/").removesuffix(".git")
    scheme, _, rest = plain.partition("://")
    if scheme != "ssh":
        return plain
    host, _, path = rest.rpartition("@")[2].partition("/")
    return f"https://{host.partition(':')[0]}/{path}"
