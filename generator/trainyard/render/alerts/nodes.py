"""Alerts of nodes."""

from __future__ import annotations

from trainyard.render.alerts.alert import MAINTENANCE, TAKE_OUT, Alert, outside_maintenance

_READY = 'max by (node) (kube_node_status_condition{condition="Ready",status="true"})'
_CORDONED = "max by (node) (kube_node_spec_unschedulable) == 1"
RUNS_JOBS = f"{_READY} == 1 unless on (node) {_CORDONED}"
"""Nodes that are ready and not cordoned."""


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
        # Without any node of its pool, kube-state-metrics does not show the labels of nodes.
        expr=f"{MAINTENANCE} and on (node) ({RUNS_JOBS}) "
        f"or {MAINTENANCE} unless on (node, pool) trainyard:node:pool "
        "and on (pool) trainyard:node:pool",
        hold="30m",
        severity="warning",
        summary="Node {{ $labels.node }} is in maintenance, and is not cordoned or no node of "
        "pool {{ $labels.pool }}",
        meaning="The profiles take the node out of use, and quota is lower by it. But the node is "
        "ready, so that Kueue and the scheduler choose it for jobs. Or the pool has no node of "
        "this name: it is misspelled, in another pool, or deleted.",
        look=(
            "`{cli} get node NODE --show-labels`: `SchedulingDisabled` is a cordon.",
            "The table above has the labels of pool POOL.",
            "`git log -p` of the cluster's profile.",
        ),
        fix=(
            "If it is still to be repaired: `{admin} cordon NODE`.",
            "If it is repaired, remove it from `maintenance` of pool POOL.",
            "If the name or the pool is a mistake, correct it.",
            "If it was deleted for its repair, silence the alert until it is back.",
            "If it is gone for good, lower `nodes` of pool POOL, and end its maintenance.",
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
)
