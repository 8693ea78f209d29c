"""Where a cluster's metrics come from, and the Prometheus that reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trainyard.diagnostics import Pointer

OPENSHIFT = "openshift"
PROMETHEUS_OPERATOR = "prometheus-operator"
STACKS: Mapping[str, str] = {
    OPENSHIFT: "UserWorkloadMonitoring",
    PROMETHEUS_OPERATOR: "PrometheusOperator",
}
"""Stack -> kind under which a cluster declares who has it read the objects of our namespace."""

NAMESPACES: Mapping[str, str] = {
    OPENSHIFT: "openshift-user-workload-monitoring",
    PROMETHEUS_OPERATOR: "monitoring",
}
"""Stack -> namespace of its Prometheus, unless a cluster states another."""
CONSOLE = "openshift-console"
GRAFANA_OPERATOR = "grafana-operator"
GRAFANA_SIDECAR = "grafana-sidecar"
CONSOLE_NAMESPACE = "openshift-config-managed"
"""Where OpenShift's console looks for dashboards; only cluster admins may write there."""

VIEWERS: Mapping[str, str] = {
    CONSOLE: "ConsoleDashboards",
    GRAFANA_OPERATOR: "Grafana",
    GRAFANA_SIDECAR: "Grafana",
}
"""What shows dashboards -> kind under which a cluster declares who has it show ours."""

METRICS = "Metrics"
"""Kind under which a cluster declares who has a source scraped that we don't."""

API_SERVER = "apiserver"
EXTERNAL_SECRETS = "external-secrets"
JOB_STATES = "job-states"
KUBELET = "kubelet"
SRIOV_METRICS = "sriov-metrics-exporter"
"""Sources that a cluster has if it declares who has them scraped: not every cluster can."""

EXPORTERS = (
    API_SERVER,
    "dcgm-exporter",
    EXTERNAL_SECRETS,
    JOB_STATES,
    "kube-state-metrics",
    KUBELET,
    "node-exporter",
    SRIOV_METRICS,
)
"""Sources beside the release's own controllers."""

WAITING = 24 * 60 * 60
"""Seconds that a job may wait whose priority has no limit of its own."""


AUDIT_LOG = "AuditLog"
RECORDS: Mapping[str, str] = {
    AUDIT_LOG: "audit log",
    "Events": "events",
    "Logs": "lines of the teams' pods",
}
"""What others keep -> its words. A cluster declares who does as ``<kind>/<name>``."""


@dataclass(frozen=True, slots=True)
class Scrape:
    """How Prometheus reads a controller for which we write the object that makes it do so.

    Args:
        pods: whether the labels are those of pods; of a Service otherwise.
        port: number of a pod's port, or name of a Service's.
        scheme: ``http`` or ``https``.
        token: whether the controller asks for a token that may read ``/metrics``.
    """

    labels: Mapping[str, str]
    pods: bool
    port: int | str
    scheme: str
    token: bool


@dataclass(frozen=True, slots=True)
class MetricSource:
    """What has metrics.

    Args:
        name: of the component.
        namespace: of its pods; empty for what each node or cluster has somewhere.
        scrape: None where its own operator or another owner has it scraped.
    """

    name: str
    namespace: str = ""
    scrape: Scrape | None = None


@dataclass(frozen=True, slots=True)
class Logs:
    """How the log store of a cluster keeps the lines of the teams' pods.

    Args:
        keep: days that a line is kept.
        drops_credentials: whether lines with a credential of a known form are not stored.
    """

    at: Pointer
    keep: int
    drops_credentials: bool


@dataclass(frozen=True, slots=True)
class Monitoring:
    """What watches a cluster.

    Args:
        stack: its Prometheus, ``openshift`` or ``prometheus-operator``.
        labels: by which the Prometheus selects the objects that it reads.
        namespace: of the Prometheus.
        severity: alert -> its severity, where it is not the usual one.
        waiting: priority -> seconds that a job may wait; others have ``WAITING``.
        dashboards: what shows them; empty where nothing does.
        logs: None where no profile states how lines are kept.
    """

    at: Pointer
    stack: str
    labels: Mapping[str, str]
    namespace: str
    severity: Mapping[str, str]
    waiting: Mapping[str, int]
    dashboards: str
    logs: Logs | None
