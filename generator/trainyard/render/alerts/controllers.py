"""Alerts of the controllers themselves, and of metrics that are not there."""

from __future__ import annotations

from trainyard.model.monitoring import EXTERNAL_SECRETS, JOB_STATES
from trainyard.render.alerts.alert import Alert

CONTROLLERS = ("jobset", "kueue", "trainer")
"""Components whose controllers and webhooks the alerts are about."""

_NAMES = (
    "clusterqueue_controller|clustertrainingruntime_controller|jobset|localqueue_controller|"
    "trainjob_controller|workload_controller"
)

_WITNESSES = {
    "argocd": "argocd_app_info",
    "dcgm-exporter": "DCGM_FI_DEV_XID_ERRORS",
    EXTERNAL_SECRETS: "externalsecret_status_condition",
    "jobset": 'controller_runtime_reconcile_total{controller="jobset"}',
    "kube-state-metrics": "kube_node_status_condition",
    "kueue": "kueue_cluster_queue_status",
    "machine-config": "mco_degraded_machine_count",
    "node-exporter": "node_infiniband_state_id",
    "trainer": 'controller_runtime_reconcile_total{controller="trainjob_controller"}',
}
"""Source -> a metric that it always has."""


def _rate(metric: str) -> str:
    name = f'controller_runtime_{metric}{{controller=~"{_NAMES}"}}'
    return f"sum by (controller) (rate({name}[15m]))"


def _missing(source: str, witness: str, *others: str, only_if: str = "") -> Alert:
    """Return the alert of a source: a rule on a metric that is not there never fires.

    Args:
        source: whose metrics may be missing.
        witness: one of them.
        others: sources that ``only_if`` reads.
        only_if: expression without which the metric may be absent.
    """
    return Alert(
        name="TrainyardMetricsMissing",
        sources=(source, *others),
        expr=f"absent({witness}){only_if}",
        hold="15m",
        severity="warning",
        labels={"source": source},
        summary=f"Prometheus has no metrics of {source}",
        meaning="No alert that reads this source can fire. The source does not run, nobody has it "
        "scraped, or Prometheus is refused.",
        look=(
            "`{cli} get servicemonitors,podmonitors --all-namespaces`",
            "Prometheus' page of targets: the error of the scrape.",
        ),
        fix=(
            "Its owner is in the table above: have it scraped.",
            "If Prometheus is refused (403), its account needs `get` of `/metrics`.",
            "If only node-exporter is missing, see prometheus/node_exporter#3265.",
            "If only job-states is missing, kube-state-metrics' log names what it can't list.",
        ),
    )


ALERTS = (
    Alert(
        name="TrainyardControllerErrors",
        sources=CONTROLLERS,
        expr=f"{_rate('reconcile_errors_total')} / {_rate('reconcile_total')} > 0.5",
        hold="30m",
        severity="warning",
        summary="Half of what {{ $labels.controller }} does fails",
        meaning="The controller tries the same again and again. Jobs do not start or do not end.",
        look=(
            "`{cli} -n {kueue} logs deployment/kueue-controller-manager --since 30m`",
            "`{cli} -n {trainer} logs deployment/kubeflow-trainer-controller-manager --since 30m`",
            "`{cli} -n {jobset} logs deployment/jobset-controller-manager --since 30m`",
        ),
        fix=(
            "The log names the object and the reason.",
            "After an upgrade, compare the versions with the README of this cluster.",
        ),
    ),
    Alert(
        name="TrainyardCertificateUnreadable",
        sources=CONTROLLERS,
        expr="sum by (namespace) (increase(certwatcher_read_certificate_errors_total[1h])) "
        "* on (namespace) group_left (source) trainyard:controller:namespace > 0",
        severity="warning",
        summary="{{ $labels.source }} can't read the certificate of its webhook",
        meaning="The controller keeps its old certificate. When that ends, the API server refuses "
        "every object that its webhook judges. No metric of these versions has the day of the end.",
        look=("`{cli} -n NAMESPACE get secrets`", "`{cli} -n NAMESPACE get events`"),
        fix=("Restart the controller's deployment: it makes a new certificate.",),
    ),
    *(_missing(source, witness) for source, witness in sorted(_WITNESSES.items())),
    # A cluster without jobs has no job's states.
    _missing(
        JOB_STATES,
        "trainyard_workload_created_timestamp_seconds",
        "kueue",
        only_if=" and on () sum(kueue_pending_workloads) > 0",
    ),
)
