"""Alerts of nodes."""

from __future__ import annotations

from trainyard.render.alerts.alert import (
    BRING_BACK,
    MAINTENANCE,
    RESTART,
    TAKE_OUT,
    Alert,
    outside_maintenance,
)

_READY = 'max by (node) (kube_node_status_condition{condition="Ready",status="true"})'
_CORDONED = "max by (node) (kube_node_spec_unschedulable) == 1"
LACKING = "trainyard:node:lacking"
"""Series of each node and resource of which the node offers less than jobs ask for."""

_RUNS_JOBS = f"{_READY} == 1 unless on (node) {_CORDONED}"
"""Nodes that are ready and not cordoned."""

WHOLE = f"{_RUNS_JOBS} unless on (node) {LACKING}"
"""Those of them that have all of their devices."""

_IN_USE = (
    "(count by (pool) ("
    + outside_maintenance(f"trainyard:node:pool and on (node) ({WHOLE})")
    + ") or 0 * trainyard:pool:promised_nodes)"
)
"""Nodes of each pool that are ready, whole, not cordoned and not in maintenance."""

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
        meaning="So many nodes are not ready, cordoned or without all of their devices that those "
        "left are just what the teams own. No job waits for it yet. With the next node that fails, "
        "a team has less than its quota.",
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
        meaning="Nodes of the pool are not ready, cordoned or without all of their devices, no "
        "profile takes them out of use, and the reserve is used up. Teams can't have all of their "
        "quota, and jobs as large as a quota wait. If no node of the pool is found at all, "
        "kube-state-metrics does not show the labels of nodes.",
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
        name="TrainyardNodeLacksDevices",
        sources=("kube-state-metrics",),
        expr=outside_maintenance(f"count by (node, pool) ({LACKING} and on (node) ({_RUNS_JOBS}))"),
        hold="15m",
        severity="warning",
        summary="Node {{ $labels.node }} of pool {{ $labels.pool }} offers too little of "
        "{{ $value }} resources that jobs ask for",
        meaning="The node is ready, and has fewer GPUs, virtual functions or, without GPUs, CPUs "
        "than its hardware profile states. A device is gone, or its device plugin does not run. No "
        "job of whole nodes starts on the node, so it does not count as one of its pool.",
        look=(
            f"The metric `{LACKING}` names each resource.",
            (
                "`{cli} get node NODE -o yaml`: `status.allocatable`, which the "
                "[README](README.md) states for each pool."
            ),
            (
                "`{cli} get pods --all-namespaces --field-selector spec.nodeName=NODE`: the device "
                "plugins of GPUs and of SR-IOV, and the SR-IOV operator's daemon."
            ),
        ),
        fix=(
            "If a device plugin does not run, delete its pod: its DaemonSet makes a new one.",
            f"If a device is gone: {TAKE_OUT[0].lower()}{TAKE_OUT[1:]}",
            f"Then restart the node: {RESTART}. If the device stays away, have it replaced.",
            BRING_BACK,
            "If all nodes of the pool lack the same, compare its hardware profile with a node.",
        ),
    ),
    Alert(
        name="TrainyardNodeNotCordoned",
        sources=("kube-state-metrics",),
        # Without any node of its pool, kube-state-metrics does not show the labels of nodes.
        expr=f"{MAINTENANCE} and on (node) ({_RUNS_JOBS}) "
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
