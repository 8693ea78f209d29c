"""The dashboard of the platform: capacity, queues, nodes, fabric."""

from __future__ import annotations

from trainyard.model.link import INFINIBAND
from trainyard.model.monitoring import SRIOV_METRICS
from trainyard.render.alerts.alert import OPEN_QUEUES
from trainyard.render.alerts.nodes import WHOLE
from trainyard.render.alerts.rails import NO_LINK, PROMISED_RATE, RATE, of_rail
from trainyard.render.dashboards.panel import NUMBER, TABLE, Dashboard, Panel, Query, Row
from trainyard.render.dashboards.promql import vf_traffic, waited, with_team

_KUEUE = ("kueue",)
_CLUSTER = ("kube-state-metrics",)
_PORTS = ("kube-state-metrics", "node-exporter")
_PROMISED = "trainyard:pool:promised_nodes"
_HELD = "trainyard:team:held_nodes"
_CABLE = "Clean or replace the cable or transceiver of the port that the runbook finds."

CAPACITY = (
    Panel(
        title="Nodes promised",
        unit="short",
        shows="Nodes that teams own, by pool.",
        bad="A number that nobody agreed to is a quota in a team's profile: `trainyard capacity`.",
        sources=(),
        queries=(Query(_PROMISED, "{{pool}}"),),
        alerts=("TrainyardPoolBelowQuota",),
    ),
    Panel(
        title="Nodes used",
        unit="short",
        shows="Nodes that admitted jobs hold, by pool, counted by GPUs or, without GPUs, CPUs.",
        bad="If it is high and jobs wait, see who borrows; a cohort takes its nodes back.",
        sources=_KUEUE,
        queries=(Query(f"sum by (pool) ({_HELD})", "{{pool}}"),),
    ),
    Panel(
        title="Nodes borrowed",
        unit="short",
        shows="Nodes that teams hold beyond what they own, by pool.",
        bad="A team that borrows all day needs a larger quota: a job on borrowed nodes is evicted "
        "when the owner needs them.",
        sources=_KUEUE,
        queries=(Query("sum by (pool) (trainyard:team:borrowed_nodes)", "{{pool}}"),),
        alerts=("TrainyardPreemptionsHigh",),
    ),
    Panel(
        title="Nodes idle",
        unit="short",
        shows="Promised nodes that no admitted job holds, by pool.",
        bad="If jobs wait beside idle nodes, describe the first one that waits: its topology or "
        "its size does not fit what is free.",
        sources=_KUEUE,
        queries=(
            Query(f"clamp_min({_PROMISED} - on (pool) sum by (pool) ({_HELD}), 0)", "{{pool}}"),
        ),
        alerts=("TrainyardQuotaIdleWhileJobsWait",),
    ),
)

QUEUES = (
    Panel(
        title="Waiting jobs",
        unit="short",
        shows="Jobs that are not admitted, by queue.",
        bad="Compare with idle nodes. Then `trainyard fit JOB.yaml` says whether a job can start.",
        sources=_KUEUE,
        queries=(Query(with_team("trainyard:cluster_queue:pending"), "{{cluster_queue}}"),),
        alerts=("TrainyardQueueAdmitsNothing", "TrainyardAdmissionStuck"),
    ),
    Panel(
        title="Waiting time",
        unit="s",
        shows="Time within which 95 % of the jobs were admitted that were admitted in the last "
        "hour, by queue, at most 11 h 22 min. Jobs that still wait are not in it.",
        bad="Raise the quota of the queue, or the priority of what must not wait.",
        sources=_KUEUE,
        queries=(Query(with_team(waited("0.95")), "{{cluster_queue}}"),),
        alerts=("TrainyardQueueAdmitsNothing",),
    ),
    Panel(
        title="Quota used",
        unit="percentunit",
        shows="Used part of each queue's own quota, of the resource that it uses most; more than "
        "100 % is borrowed.",
        bad="A queue that is far below 100 % for weeks has nodes for another team.",
        sources=_KUEUE,
        queries=(Query(with_team("trainyard:cluster_queue:used_ratio"), "{{cluster_queue}}"),),
        alerts=("TrainyardQuotaIdleWhileJobsWait",),
    ),
    Panel(
        title="Evictions within 1 h",
        unit="short",
        shows="Jobs that lost their nodes, by reason. The first of a queue and reason is not "
        "counted, since its counter begins at 1.",
        bad="PodsReadyTimeout: see the pods' events. NodeFailures: see nodes out of use. "
        "Preempted: see preemptions.",
        sources=_KUEUE,
        queries=(
            Query(
                "sum by (reason) (increase(kueue_evicted_workloads_total[1h]) "
                "and on (cluster_queue) trainyard:cluster_queue:team)",
                "{{reason}}",
            ),
        ),
        alerts=("TrainyardJobsNotReadyInTime", "TrainyardJobsLostNodes"),
    ),
    Panel(
        title="Preemptions within 1 h",
        unit="short",
        shows="Jobs that were evicted for a job of the queue that is named, by reason.",
        bad="If one queue evicts many, its team submits long jobs in small parts or with too high "
        "a priority.",
        sources=_KUEUE,
        queries=(
            Query(
                "sum by (preempting_cluster_queue, reason) "
                "(increase(kueue_preempted_workloads_total[1h]))",
                "{{preempting_cluster_queue}}: {{reason}}",
            ),
        ),
        alerts=("TrainyardPreemptionsHigh",),
    ),
    Panel(
        title="Queues that admit nothing",
        unit="short",
        form=NUMBER,
        shows="ClusterQueues of teams that Kueue has stopped, and the profiles have not.",
        bad="`describe clusterqueue` names what is missing; sync `platform/`.",
        sources=_KUEUE,
        queries=(
            Query(
                "count(max by (cluster_queue) "
                '(kueue_cluster_queue_status{status="active"}) == 0 '
                f"and on (cluster_queue) {OPEN_QUEUES}) or vector(0)"
            ),
        ),
        alerts=("TrainyardClusterQueueInactive",),
    ),
)

NODES = (
    Panel(
        title="Nodes out of use",
        unit="short",
        shows="Nodes of each pool that are not ready, cordoned or without all of their devices, "
        "those in maintenance included.",
        bad="Repair and uncordon them. More of them than the pool's reserve take quota from teams.",
        sources=_CLUSTER,
        queries=(
            Query(
                f"count by (pool) (trainyard:node:pool unless on (node) ({WHOLE})) "
                f"or 0 * {_PROMISED}",
                "{{pool}}",
            ),
        ),
        alerts=(
            "TrainyardPoolBelowQuota",
            "TrainyardReserveUsed",
            "TrainyardNodeOutOfUse",
            "TrainyardNodeLacksDevices",
        ),
    ),
    Panel(
        title="GPU use",
        unit="percentunit",
        shows="Part of the time in which GPUs run a kernel: all GPUs, and those of jobs.",
        bad="Low for jobs: see the dashboards of teams for the job whose GPUs wait. Low for all: "
        "nodes are idle.",
        sources=("dcgm-exporter", "kube-state-metrics"),
        queries=(
            Query("avg(DCGM_FI_DEV_GPU_UTIL) / 100", "all GPUs"),
            Query("avg(trainyard:pod:gpu_use)", "GPUs of jobs"),
        ),
        alerts=("TrainyardGpuXid",),
    ),
)

FABRIC = (
    Panel(
        title="Rails: traffic",
        unit="Bps",
        shows="Bytes that the virtual functions of each rail send, all pods of a pool together.",
        bad="A rail far below the others of its pool is not used by NCCL or UCX: see its errors.",
        sources=("kube-state-metrics", SRIOV_METRICS),
        queries=(
            Query(
                f"sum by (pool, dev_type) ({vf_traffic('tx')} "
                "* on (node) group_left (pool) trainyard:node:pool)",
                "{{pool}} {{dev_type}}",
            ),
        ),
    ),
    Panel(
        title="Rails: slowest port",
        unit="percentunit",
        shows="Rate of the slowest port of each pool, of the rate that its hardware profile has.",
        bad=_CABLE,
        sources=_PORTS,
        queries=(
            Query(
                f"min by (pool) ({RATE} / {PROMISED_RATE})",
                "{{pool}}",
            ),
        ),
        alerts=("TrainyardRailSlow",),
    ),
    Panel(
        title="Rails: ports without a link",
        unit="short",
        shows="Ports of rails that are not active or that no node exporter shows, by pool.",
        bad=_CABLE,
        sources=_PORTS,
        queries=(
            Query(
                f"count by (pool) ({NO_LINK}) or 0 * {_PROMISED}",
                "{{pool}}",
            ),
        ),
        alerts=("TrainyardRailDown", "TrainyardRailNamesDiffer"),
    ),
    Panel(
        title="Rails: links lost within 1 h",
        unit="short",
        shows="How often ports of each rail lost their link.",
        bad=_CABLE,
        sources=_PORTS,
        queries=(
            Query(
                "sum by (pool, device) "
                f"({of_rail('increase(node_infiniband_link_downed_total[1h])')})",
                "{{pool}} {{device}}",
            ),
        ),
        alerts=("TrainyardRailFlaps",),
    ),
    Panel(
        title="Rails: symbol errors within 1 h",
        unit="short",
        shows="Symbols that ports of each rail received with errors.",
        bad=_CABLE,
        sources=_PORTS,
        queries=(
            Query(
                "sum by (pool, device) "
                f"({of_rail('increase(node_infiniband_symbol_error_total[1h])')})",
                "{{pool}} {{device}}",
            ),
        ),
        alerts=("TrainyardRailErrors",),
        link=INFINIBAND.name,
    ),
)

# For some minutes after a change there are an old and a new price or cost center.
_COST = (
    "trainyard:team:promised_nodes "
    "* on (pool) group_left (currency) topk by (pool) (1, trainyard:pool:node_hour_price) "
    "* on (team) group_left (cost_center) topk by (team) (1, trainyard:team:cost_center)"
)

SHOWBACK = (
    Panel(
        title="Node-hours held",
        unit="short",
        form=TABLE,
        columns=("team", "pool"),
        value="node-hours",
        shows="Nodes that the jobs of each team held within the time range, times hours, with "
        "those that it borrowed.",
        bad="Far below what the team owns: it can give nodes back. Far above: it needs more.",
        sources=_KUEUE,
        queries=(Query(f"sum by (team, pool) (sum_over_time({_HELD}[$__range])) / 60"),),
    ),
    Panel(
        title="Cost of what teams own",
        unit="short",
        form=TABLE,
        columns=("team", "cost_center", "currency"),
        value="cost",
        shows="Price of each team's own nodes for the time range, used or not.",
        bad="It is for comparison: `trainyard capacity --cost` has exact sums for a month.",
        sources=(),
        queries=(
            Query(
                f"sum by (team, cost_center, currency) (sum_over_time(({_COST})[$__range:5m]) / 12)"
            ),
        ),
        priced=True,
    ),
)

_ROWS = (
    *(Row("Capacity", CAPACITY), Row("Queues", QUEUES), Row("Nodes", NODES)),
    *(Row("Fabric", FABRIC), Row("Showback", SHOWBACK)),
)
PLATFORM = Dashboard("platform", "Platform", (), _ROWS)
