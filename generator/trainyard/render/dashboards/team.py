"""The dashboard of a team: its jobs, waiting time, quota and GPUs."""

from __future__ import annotations

from trainyard.render.dashboards.panel import Dashboard, Panel, Query, Row, Variable
from trainyard.render.dashboards.promql import ended, of_team, waited

_KUEUE = ("kueue",)
_GPUS = ("dcgm-exporter", "kube-state-metrics")
_OWN = 'trainyard:team:promised_nodes{team="$team"}'
_USE = 'trainyard:pod:gpu_use{team="$team"}'
_FAILED = ended("jobset_failed_total", "1h")
_COUNT = "count/trainjobs.trainer.kubeflow.org"

JOBS = (
    Panel(
        title="Running jobs",
        unit="short",
        shows="Admitted jobs, by queue.",
        bad="None runs and some wait: see the quota.",
        sources=_KUEUE,
        queries=(
            Query(
                of_team(
                    "max by (cluster_queue) (kueue_admitted_active_workloads)", "cluster_queue"
                ),
                "{{cluster_queue}}",
            ),
        ),
    ),
    Panel(
        title="Waiting jobs",
        unit="short",
        shows="Jobs that are not admitted, by queue.",
        bad="`trainyard fit JOB.yaml` says whether a job can start, and on which nodes.",
        sources=_KUEUE,
        queries=(
            Query(of_team("trainyard:cluster_queue:pending", "cluster_queue"), "{{cluster_queue}}"),
        ),
        alerts=("TrainyardQueueAdmitsNothing", "TrainyardQuotaIdleWhileJobsWait"),
    ),
    Panel(
        title="Failed jobs within 1 h",
        unit="short",
        shows="Jobs that failed and have no restart left, by namespace.",
        bad="Read the logs of the first rank that ended, before the job is deleted.",
        sources=("jobset",),
        queries=(
            Query(
                f"count by (namespace) ({of_team(_FAILED, 'namespace')})",
                "{{namespace}}",
            ),
        ),
        alerts=("TrainyardJobFailed",),
    ),
    Panel(
        title="TrainJobs of the limit",
        unit="percentunit",
        shows="TrainJobs of each namespace, finished ones too, of the number that it may have.",
        bad="Delete finished jobs: at 100 % no job can be created.",
        sources=("kube-state-metrics",),
        queries=(
            Query(
                of_team(
                    " / ".join(
                        "max by (namespace) "
                        f'(kube_resourcequota{{resource="{_COUNT}",type="{kind}"}})'
                        for kind in ("used", "hard")
                    ),
                    "namespace",
                ),
                "{{namespace}}",
            ),
        ),
        alerts=("TrainyardTrainJobsNearQuota",),
    ),
)

WAITING = (
    Panel(
        title="Waiting time",
        unit="s",
        shows="Time within which half and 95 % of the jobs were admitted that were admitted in "
        "the last hour, at most 11 h 22 min. Jobs that still wait are not in it.",
        bad="Submit smaller jobs, or ask the platform's owner for a larger quota.",
        sources=_KUEUE,
        queries=(
            Query(of_team(waited("0.5"), "cluster_queue"), "{{cluster_queue}}: 50 %"),
            Query(of_team(waited("0.95"), "cluster_queue"), "{{cluster_queue}}: 95 %"),
        ),
        alerts=("TrainyardQueueAdmitsNothing",),
    ),
    Panel(
        title="Evictions within 1 h",
        unit="short",
        shows="Jobs of the team that lost their nodes, by reason.",
        bad="Write checkpoints, and submit long jobs on the team's own nodes.",
        sources=_KUEUE,
        queries=(
            Query(
                "sum by (reason) "
                f"({of_team('increase(kueue_evicted_workloads_total[1h])', 'cluster_queue')})",
                "{{reason}}",
            ),
        ),
        alerts=("TrainyardPreemptionsHigh", "TrainyardJobsLostNodes"),
    ),
)

QUOTA = (
    Panel(
        title="Nodes",
        unit="short",
        shows="Nodes that the team owns and that its admitted jobs hold, by pool, counted by GPUs "
        "or, without GPUs, CPUs.",
        bad="Far below what is owned: other teams may borrow it, or it can be given back.",
        sources=_KUEUE,
        queries=(
            Query(f"sum by (pool) ({_OWN})", "{{pool}}: own"),
            Query('trainyard:team:held_nodes{team="$team"}', "{{pool}}: held"),
        ),
        alerts=("TrainyardQuotaIdleWhileJobsWait",),
    ),
    Panel(
        title="Nodes borrowed",
        unit="short",
        shows="Nodes that the team holds beyond what it owns, by pool.",
        bad="A job on borrowed nodes is evicted as a whole when their owner needs them.",
        sources=_KUEUE,
        queries=(Query('trainyard:team:borrowed_nodes{team="$team"}', "{{pool}}"),),
        alerts=("TrainyardPreemptionsHigh",),
    ),
)

GPUS = (
    Panel(
        title="GPU use by job",
        unit="percentunit",
        shows="Part of the time in which the GPUs of each job run a kernel.",
        bad="Open the job's dashboard: GPUs wait for data, for other ranks, or for a person.",
        sources=_GPUS,
        queries=(Query(f"avg by (namespace, trainjob) ({_USE})", "{{namespace}} {{trainjob}}"),),
    ),
    Panel(
        title="Pods with idle GPUs",
        unit="short",
        shows="Pods whose GPUs ran a kernel in less than 5 % of the last 15 minutes, by job.",
        bad="A job that forgot to end, or that hangs: delete it.",
        sources=_GPUS,
        queries=(
            Query(
                f"count by (namespace, trainjob) (avg_over_time({_USE}[15m]) < 0.05)",
                "{{namespace}} {{trainjob}}",
            ),
        ),
    ),
)

TEAM = Dashboard(
    "team",
    "Team",
    (Variable("team", "Team", "trainyard:cluster_queue:team", "team"),),
    (Row("Jobs", JOBS), Row("Waiting", WAITING), Row("Quota", QUOTA), Row("GPUs", GPUS)),
)
