"""Reactions of what reads the objects of delivery and monitoring: Argo CD, Prometheus, Grafana."""

from __future__ import annotations

from functools import partial

from trainyard.change.impact import reach
from trainyard.change.impact.reaction import ANY, Effect, Reaction, quiet
from trainyard.change.impact.reactions.conditions import is_labelled, takes_off_the_brake

_SEEN = "seen with Argo CD 3.5.7"
_STATE = "argoproj/argo-cd:controller/state.go@v3.5.7"


def _released(change: str, fields: str = ANY) -> Reaction:
    """Return that nobody starts the sync of nodes any more.

    Synced with `platform/`, they have no Application of their own.
    """
    return Reaction(
        kind="Application",
        change=change,
        fields=fields,
        when=takes_off_the_brake,
        condition="and `nodes/` waited for a person until now",
        effect=Effect.UNLOCKS,
        cause="`nodes/` is synced automatically",
        consequence="Argo CD applies at once whatever was merged into `nodes/` and not synced "
        "yet, and every later merge without a person.",
        source=_STATE,
        reach=reach.every_pool,
    )


_changed = partial(Reaction, kind="Application", change="changed", source=_STATE)
_APPLICATION = (
    _released("changed", "spec.syncPolicy.automated"),
    _released("left behind"),
    _changed(
        fields="spec.destination",
        consequence="Argo CD compares and syncs the new place. What is at the old one stays there, "
        "and nothing watches it.",
    ),
    _changed(
        fields="spec.source",
        consequence="Argo CD compares the new folder, and deletes what that folder lacks and what "
        "may be pruned.",
    ),
    *quiet(
        "Application",
        _SEEN,
        created="Argo CD syncs the folder.",
        changed="Argo CD syncs by the new settings. Running jobs stay.",
        deleted="Its objects stay, and nothing watches them.",
    ),
)

_SET = (
    Reaction(
        kind="ApplicationSet",
        change="deleted",
        effect=Effect.DELETES,
        cause="ApplicationSet `{name}` is deleted",
        consequence="Argo CD deletes the Application of every team with its objects. Namespaces "
        "and claims wait for an approval.",
        source=_SEEN,
        reach=reach.everybody,
        lost="data",
    ),
    *quiet(
        "ApplicationSet",
        _SEEN,
        created="Argo CD makes an Application of each team's folder.",
        changed="Argo CD changes the teams' Applications. Running jobs stay.",
    ),
)

_PROJECT = quiet(
    "AppProject",
    _SEEN,
    created="Its Applications can sync.",
    changed="A unit with an object that the project does not permit is not synced at all. Running "
    "jobs stay.",
    deleted="It stays until its Applications are gone.",
)


_OPERATOR = "prometheus-operator/prometheus-operator:pkg/prometheus/server/operator.go@v0.85.0"

_CONSOLE = (
    "openshift/monitoring-plugin:web/src/components/dashboards/legacy/useLegacyDashboards.ts"
    "@56348815"
)
_BY_HAND = "Argo CD does not apply it: a cluster admin does."

REACTIONS = (
    *_APPLICATION,
    *_SET,
    *_PROJECT,
    *quiet(
        "ConfigMap",
        "kiwigrid/k8s-sidecar:src/resources.py@b11bdd6",
        when=is_labelled("grafana_dashboard"),
        condition="is a dashboard of Grafana",
        created="Grafana shows the dashboard from then on.",
        changed="Grafana shows the new dashboard.",
        deleted="Grafana shows the dashboard no more.",
    ),
    *quiet(
        "ConfigMap",
        _CONSOLE,
        when=is_labelled("console.openshift.io/dashboard"),
        condition="is a dashboard of OpenShift's console",
        created=f"The console shows the dashboard once it is applied. {_BY_HAND}",
        changed=f"The console shows the new dashboard once it is applied. {_BY_HAND}",
        deleted="The console shows the dashboard until a cluster admin deletes it there.",
    ),
    *quiet(
        "GrafanaDashboard",
        "grafana/grafana-operator:controllers/dashboard_controller.go@v5.24.0",
        created="Each Grafana with the label shows the dashboard from then on.",
        changed="Grafana shows the new dashboard.",
        deleted="The operator deletes the dashboard from Grafana.",
    ),
    *quiet(
        "PodMonitor",
        _OPERATOR,
        created="Prometheus scrapes the pods from then on.",
        changed="Prometheus scrapes by the new settings.",
        deleted="Prometheus scrapes the pods no more. Alerts that read them stop.",
    ),
    *quiet(
        "PrometheusRule",
        _OPERATOR,
        created="Prometheus evaluates the alerts from then on.",
        changed="Prometheus evaluates the new rules. An alert whose labels or name differ begins "
        "its time anew.",
        deleted="Its alerts end, also those that fire.",
    ),
    *quiet(
        "ServiceMonitor",
        _OPERATOR,
        created="Prometheus scrapes the service from then on.",
        changed="Prometheus scrapes by the new settings.",
        deleted="Prometheus scrapes the service no more. Alerts that read it stop.",
    ),
)
