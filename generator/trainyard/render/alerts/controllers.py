"""Alerts of the controllers themselves, and of metrics that are not there."""

from __future__ import annotations

from trainyard.model.monitoring import (
    API_SERVER,
    EXTERNAL_SECRETS,
    JOB_STATES,
    KUBELET,
    SRIOV_METRICS,
)
from trainyard.render.alerts.alert import Alert

CONTROLLERS = ("jobset", "kueue", "trainer")
"""Components whose controllers and webhooks the alerts are about."""

_NAMES = (
    "clusterqueue_controller|clustertrainingruntime_controller|jobset|localqueue_controller|"
    "trainjob_controller|workload_controller"
)

_RECONCILES = "controller_runtime_reconcile_total"
# Kueue has a controller `jobset` too, for quota; only JobSet has one for pods beside it
# (kubernetes-sigs/jobset:pkg/controllers/pod_controller.go@v0.12.0).
_JOBSET = (
    f'{_RECONCILES}{{controller="jobset"}} and on (instance) {_RECONCILES}{{controller="pod"}}'
)
_WITNESSES = {
    API_SERVER: "apiserver_admission_webhook_admission_duration_seconds_count",
    "argocd": "argocd_app_info",
    "dcgm-exporter": "DCGM_FI_DEV_XID_ERRORS",
    EXTERNAL_SECRETS: "externalsecret_status_condition",
    "jobset": _JOBSET,
    "kube-state-metrics": "kube_node_status_condition",
    KUBELET: "container_memory_working_set_bytes",
    "kueue": "kueue_cluster_queue_status",
    "machine-config": "mco_degraded_machine_count",
    "node-exporter": "node_infiniband_state_id",
    SRIOV_METRICS: "sriov_vf_tx_bytes",
    "trainer": f'{_RECONCILES}{{controller="trainjob_controller"}}',
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


def _down(source: str) -> Alert:
    """Return the alert of a controller without which no job starts."""
    return Alert(
        name="TrainyardControllerDown",
        sources=(source,),
        expr=f"absent({_WITNESSES[source]})",
        hold="10m",
        severity="critical",
        labels={"source": source},
        summary=f"{source} is down, or Prometheus has no metrics of it",
        meaning="Kueue, JobSet and Trainer are asked about each job by the API server, which "
        "refuses the job without their answer. Running jobs go on. If the controller runs, nobody "
        "has it scraped, and no other alert on it can fire.",
        look=(
            (
                "Its label `source`: `{cli} -n {kueue} get pods`, `{cli} -n {jobset} get pods`, "
                "`{cli} -n {trainer} get pods`"
            ),
            "`{cli} -n NAMESPACE describe pod POD`: why it does not start.",
            "`{cli} -n NAMESPACE logs POD --previous`: why it ended.",
            "If its pods are ready: Prometheus' page of targets has the error of the scrape.",
        ),
        fix=(
            "If its node is lost, delete the pod: another node starts it.",
            "If its image or configuration is missing, its owner corrects it.",
            "After an upgrade, compare the versions with the README of this cluster.",
            "If Prometheus is refused (403), its account needs `get` of `/metrics`.",
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
    *(_down(source) for source in CONTROLLERS),
    *(
        _missing(source, witness)
        for source, witness in sorted(_WITNESSES.items())
        if source not in CONTROLLERS
    ),
    # A cluster without jobs has no job's states.
    _missing(
        JOB_STATES,
        "trainyard_workload_created_timestamp_seconds",
        "kueue",
        only_if=" and on () sum(kueue_pending_workloads) > 0",
    ),
)
