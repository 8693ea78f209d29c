"""Alerts of nodes and their GPUs."""

from __future__ import annotations

from trainyard.render.alerts.alert import MAINTENANCE, TAKE_OUT, Alert, outside_maintenance

_HARDWARE = (48, 63, 64, 74, 79, 94, 95, 119, 120)
"""XIDs that mean hardware or driver, by NVIDIA's catalog; those of the application are left out."""

HOSTS = ("Hostname", "hostname")
"""Labels of the host in DCGM exporter: the first up to 4.8.2, then the second
(NVIDIA/dcgm-exporter#655)."""
_GPU = f"{', '.join(HOSTS)}, UUID, gpu"

_XID = " or ".join(f"DCGM_FI_DEV_XID_ERRORS == {number}" for number in _HARDWARE)
_HOST = "{{ $labels.Hostname }}{{ $labels.hostname }}"
_READY = 'max by (node) (kube_node_status_condition{condition="Ready",status="true"})'
_CORDONED = "max by (node) (kube_node_spec_unschedulable) == 1"
RUNS_JOBS = f"{_READY} == 1 unless on (node) {_CORDONED}"
"""Nodes that are ready and not cordoned."""


def _gpu(expr: str) -> str:
    """Return an expression by GPU, without those of nodes that the profiles take out."""
    hosts = (f'label_replace({MAINTENANCE}, "{name}", "$1", "node", "(.+)")' for name in HOSTS)
    return " ".join(
        [expr, *(f"unless on ({name}) {host}" for name, host in zip(HOSTS, hosts, strict=True))]
    )


_IN_USE = (
    "(count by (pool) ("
    + outside_maintenance(f"trainyard:node:pool and on (node) {RUNS_JOBS}")
    + ") or 0 * trainyard:pool:promised_nodes)"
)
"""Nodes of each pool that are ready, not cordoned and not in maintenance."""

_CONDITIONS = "`{cli} describe node NODE`: its conditions, and who cordoned it."
_REPAIR = ("Repair the node, then `{admin} uncordon NODE`.", TAKE_OUT)
_NODES_OF_POOL = "`{cli} get nodes --selector SELECTOR`: the table above has that of the pool."
_POOL = "{{ $labels.pool }}"

ALERTS = (
    Alert(
        name="TrainyardReserveUsed",
        sources=("kube-state-metrics",),
        expr=f"{_IN_USE} == on (pool) (trainyard:pool:promised_nodes > 0) "
        "and on (pool) trainyard:pool:spare_nodes > 0",
        hold="1h",
        severity="warning",
        summary=f"Pool {_POOL} has no spare node left",
        meaning="So many nodes are not ready or cordoned that those left are just what the teams "
        "own. No job waits for it yet. With the next node that fails, a team has less than its "
        "quota.",
        look=(_NODES_OF_POOL, _CONDITIONS),
        fix=_REPAIR,
    ),
    Alert(
        name="TrainyardPoolBelowQuota",
        sources=("kube-state-metrics",),
        expr=f"{_IN_USE} < on (pool) trainyard:pool:promised_nodes",
        hold="15m",
        severity="warning",
        summary="Pool {{ $labels.pool }} has fewer nodes that run jobs than its teams own",
        meaning="Nodes of the pool are not ready or cordoned, no profile takes them out of use, "
        "and the reserve is used up. Teams can't have all of their quota, and jobs as large as a "
        "quota wait. If no node of the pool is found at all, kube-state-metrics does not show the "
        "labels of nodes.",
        look=(_NODES_OF_POOL, _CONDITIONS),
        fix=_REPAIR,
    ),
    Alert(
        name="TrainyardNodeOutOfUse",
        sources=("kube-state-metrics",),
        expr=outside_maintenance(
            f"trainyard:node:pool and on (node) ({_READY} == 0 or {_CORDONED})"
        ),
        hold="1h",
        severity="warning",
        summary="Node {{ $labels.node }} of pool {{ $labels.pool }} is not ready or cordoned",
        meaning="The node runs no further job, and no profile says so. It counts as one of the "
        "reserve, so the next node that fails takes quota from teams.",
        look=(_CONDITIONS,),
        fix=("If it is repaired already: `{admin} uncordon NODE`.", TAKE_OUT),
    ),
    Alert(
        name="TrainyardNodeNotCordoned",
        sources=("kube-state-metrics",),
        expr=f"{MAINTENANCE} and on (node) {RUNS_JOBS}",
        hold="30m",
        severity="warning",
        summary="Node {{ $labels.node }} is in maintenance, and jobs may start on it",
        meaning="The profiles take the node out of use and quota is lower by it, but Kueue and the "
        "scheduler still choose it for jobs.",
        look=("`{cli} describe node NODE`", "`git log -p` of the cluster's profile."),
        fix=(
            "If it is still to be repaired: `{admin} cordon NODE`.",
            "If it is repaired, remove it from `maintenance` of pool POOL.",
            "If the name is a mistake, correct it.",
        ),
    ),
    Alert(
        name="TrainyardNodesOverdue",
        sources=("kube-state-metrics",),
        expr=f"count by (pool) ({MAINTENANCE} < time())",
        severity="warning",
        summary="{{ $value }} nodes of pool {{ $labels.pool }} should be back from maintenance",
        meaning="The last day that was expected has passed. Nothing comes back by itself: teams "
        "continue without the nodes.",
        look=("The [README](README.md#take-nodes-out-of-use) lists them with day and reason.",),
        fix=(
            "If they are repaired, end the maintenance as the README says.",
            "Else state a later `until` in a pull request.",
        ),
    ),
    Alert(
        name="TrainyardPoolConfigFailed",
        sources=("machine-config",),
        expr="max by (pool) (mco_degraded_machine_count) > 0 "
        "and on (pool) trainyard:pool:promised_nodes",
        hold="15m",
        severity="warning",
        summary=f"Nodes of MachineConfigPool {_POOL} can't take their configuration",
        meaning="The machine config operator gave up on a node of the pool. It stays with its old "
        "configuration, often cordoned, and no other node of the pool is updated.",
        look=(
            "`{cli} get machineconfigpool POOL -o yaml`: the message of `NodeDegraded`.",
            "`{cli} describe node NODE`: annotation `machineconfiguration.openshift.io/reason`.",
        ),
        fix=(
            "Correct what the message names. What somebody changed on the node by hand, undo it.",
            "If a drain hangs, end the pod that the message names.",
        ),
    ),
    Alert(
        name="TrainyardGpuXid",
        sources=("dcgm-exporter",),
        # It keeps the last value until the driver is reset, so a state is compared and no change.
        expr=_gpu(f"max by ({_GPU}) ({_XID})"),
        severity="critical",
        summary=f"GPU {{{{ $labels.gpu }}}} of {_HOST} reports XID {{{{ $value }}}}",
        meaning="The driver reported an error of the GPU, its memory or its NVLink. Jobs on the "
        "node fail or hang. XID 79: the GPU is off the bus. 94 and 63 are contained: only the job "
        "that had them is lost.",
        look=(
            "`{node_shell} chroot /host dmesg | grep -i xid`",
            "NVIDIA's Xid catalog: what to do for the number.",
        ),
        fix=(
            TAKE_OUT,
            "Reset the GPU or restart the node; the alert ends with that.",
            "Replace it.",
        ),
    ),
    Alert(
        name="TrainyardGpuRowRemapFailed",
        sources=("dcgm-exporter",),
        expr=_gpu(f"max by ({_GPU}) (DCGM_FI_DEV_ROW_REMAP_FAILURE) > 0"),
        severity="critical",
        summary=f"GPU {{{{ $labels.gpu }}}} of {_HOST} has memory that can't be remapped",
        meaning="The GPU has no spare memory left for a row that failed. It has to be replaced.",
        look=("`nvidia-smi --query-remapped-rows=gpu_uuid,remapped_rows.failure --format=csv`",),
        fix=(TAKE_OUT, "Have the GPU replaced."),
    ),
    Alert(
        name="TrainyardGpuUncorrectableErrors",
        sources=("dcgm-exporter",),
        expr=_gpu(f"sum by ({_GPU}) (increase(DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS[1d])) > 0"),
        severity="warning",
        summary=f"Memory of GPU {{{{ $labels.gpu }}}} of {_HOST} had an uncorrectable error",
        meaning="A row of the memory failed and was replaced by a spare one. The job that had the "
        "error is lost. The spare row is used after a reset.",
        look=("`nvidia-smi --query-remapped-rows=gpu_uuid,remapped_rows.pending --format=csv`",),
        fix=("Reset the GPU when the node is next empty.",),
    ),
)
