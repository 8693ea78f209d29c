"""Find scrapes and alerts of the tree that no Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.differences import few
from trainyard.model.facts import Body, labels_of, place_of
from trainyard.model.live import Live
from trainyard.model.lookup import mapping
from trainyard.model.manifest import Manifest
from trainyard.model.monitoring import NAMESPACES as HOMES
from trainyard.model.monitoring import OPENSHIFT
from trainyard.model.readable import STATEFUL_SETS
from trainyard.model.readable_of_others import PROMETHEUSES
from trainyard.model.readable_of_tree import ALERTS, POD_MONITORS, SERVICE_MONITORS
from trainyard.model.selector import selects
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/monitor-not-selected",
    severity=Severity.ERROR,
    summary="Some Prometheus selects each scrape and each alert of the tree.",
    why="The alerts never fire, and the dashboards are empty.",
    fix="""
        State the labels that the Prometheus selects by under `monitoring.labels`; on OpenShift have
        monitoring of user workloads switched on.
    """,
)
_FIELDS = {"rule": ALERTS, "podMonitor": POD_MONITORS, "serviceMonitor": SERVICE_MONITORS}
_USER_WORKLOAD = "prometheus-user-workload"


def find(live: Live) -> Iterator[Diagnostic]:
    monitoring = live.site.cluster.monitoring
    is_openshift = monitoring is not None and monitoring.stack == OPENSHIFT
    for fault in _user_workload(live) if is_openshift else _unread(live):
        yield RULE.at(live.at / "monitoring", fault)


def _user_workload(live: Live) -> Iterator[str]:
    """Yield that OpenShift monitors no namespaces of users."""
    place = HOMES[OPENSHIFT], _USER_WORKLOAD
    running = (mapping(dict(each), "status") for each in _at(live, place))
    if not any(status.get("availableReplicas") for status in running):
        yield f"no pod of {'/'.join(place)} is ready"


def _at(live: Live, place: tuple[str, str]) -> Iterator[Body]:
    return (body for body in live.of(STATEFUL_SETS) if place_of(body) == place)


def _unread(live: Live) -> Iterator[str]:
    """Yield the objects of the tree that no Prometheus selects, kind by kind."""
    for field, resource in _FIELDS.items():
        unread = [each for each in live.made(resource) if not _is_read(live, field, each)]
        if unread:
            shown = few(f"`{each.name}` in {each.namespace}" for each in unread)
            yield f"no Prometheus selects these objects of kind {resource.kind}: {shown}"


def _is_read(live: Live, field: str, manifest: Manifest) -> bool:
    return any(_reads(live, each, field, manifest) for each in live.of(PROMETHEUSES))


def _reads(live: Live, body: Body, field: str, manifest: Manifest) -> bool:
    """Return whether a Prometheus reads an object; without a selector of namespaces, its own."""
    spec = mapping(dict(body), "spec")
    chosen, spaces = spec.get(f"{field}Selector"), spec.get(f"{field}NamespaceSelector")
    if chosen is None or not selects(chosen, labels_of(manifest.body)):
        return False
    if spaces is None:
        return place_of(body)[0] == manifest.namespace
    return selects(spaces, live.labels_of(manifest.namespace))


def _is_monitored(live: Live) -> bool:
    return live.site.cluster.monitoring is not None


LIVE = LiveCheck(RULE, find, (PROMETHEUSES, STATEFUL_SETS), concerns=_is_monitored)
