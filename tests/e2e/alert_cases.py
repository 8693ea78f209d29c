"""What makes each alert of the committed trees fire, and what is near to that and does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Series = Mapping[str, str]
"""Series -> its values each minute, as promtool writes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The case of an alert, and its neighbours.

    Args:
        at: time of the look.
        series: that make it fire.
        labels: of the alert that fires, beside those that its rule states.
        value: that the expression has, for a summary with it.
        neighbours: series in which it must not fire; each is what changes, empty values remove.
    """

    alert: str
    cluster: str = "prod-east"
    at: str
    series: Series
    labels: Mapping[str, str]
    value: str = ""
    neighbours: tuple[Series, ...]


QUEUE = 'cluster_queue="nlp-gpu"'
# Kueue has two replicas, and of 0.16.2 both say that they follow.
ACTIVE = f'kueue_cluster_queue_status{{{QUEUE},status="active",replica_role="follower",pod="a"}}'
PENDING = ACTIVE.replace('"active"', '"pending"')
WAITS = f'kueue_pending_workloads{{{QUEUE},status="inadmissible",replica_role="follower",pod="a"}}'
HEAD = f'kueue_pending_workloads{{{QUEUE},status="active",replica_role="follower",pod="a"}}'
TRIES = 'kueue_admission_attempts_total{result="inadmissible"}'
STARTS = f'kueue_admitted_workloads_total{{{QUEUE},priority_class=""}}'
GPUS = f'{{{QUEUE},cohort="research",flavor="dgx-h100",resource="nvidia.com/gpu"}}'
USED, OWN = (
    f"kueue_cluster_queue_resource_reservation{GPUS}",
    f"kueue_cluster_queue_nominal_quota{GPUS}",
)
TEAM = {"cluster_queue": "nlp-gpu", "team": "nlp"}


def evicted(reason: str, queue: str = "nlp-gpu") -> str:
    return f'kueue_evicted_workloads_total{{cluster_queue="{queue}",reason="{reason}"}}'


QUEUES = (
    Case(
        alert="TrainyardClusterQueueInactive",
        at="10m",
        series={ACTIVE: "0x20", PENDING: "1x20"},
        labels={"cluster_queue": "nlp-gpu"},
        neighbours=(
            {ACTIVE: "1x20", PENDING: "0x20"},
            # For four minutes only.
            {ACTIVE: "1x6 0x10"},
            # A second replica that does not know yet.
            {ACTIVE.replace('pod="a"', 'pod="b"'): "1x20"},
            # A queue of somebody else.
            {ACTIVE: "", ACTIVE.replace("nlp-gpu", "theirs"): "0x20"},
        ),
    ),
    Case(
        alert="TrainyardQuotaIdleWhileJobsWait",
        at="70m",
        series={WAITS: "1x90", HEAD: "0x90", USED: "16x90", OWN: "64x90"},
        labels=TEAM,
        neighbours=({WAITS: "0x90"}, {USED: "40x90"}, {WAITS: "0x30 1x60"}),
    ),
    Case(
        alert="TrainyardQueueAdmitsNothing",
        at="750m",
        series={WAITS: "1x800", STARTS: "5x800"},
        labels=TEAM,
        neighbours=(
            {STARTS: "5x400 6x400"},
            {WAITS: "1x400 0x1 1x400"},
            {WAITS: "0x20 1x780"},
            # Prometheus itself knows of two hours only.
            {WAITS: "_x630 1x170", STARTS: "_x630 5x170"},
        ),
    ),
    Case(
        alert="TrainyardAdmissionStuck",
        at="40m",
        series={HEAD: "1x60", TRIES: "100x60"},
        labels={},
        neighbours=({TRIES: "100+1x60"}, {HEAD: "0x60", WAITS: "3x60"}),
    ),
    Case(
        alert="TrainyardAdmissionLoops",
        at="30m",
        series={TRIES: "0+6000x60"},
        labels={},
        # What Kueue's own wait of 100 ms allows.
        neighbours=({TRIES: "0+600x60"},),
    ),
    Case(
        alert="TrainyardPreemptionsHigh",
        at="150m",
        series={evicted("Preempted"): "0+1x160"},
        labels=TEAM,
        neighbours=(
            {evicted("Preempted"): "0x100 1x20 2x60"},
            # Two hours ago.
            {evicted("Preempted"): "0x10 30x150"},
            {evicted("Preempted"): "", evicted("Deactivated"): "0+1x160"},
        ),
    ),
    Case(
        alert="TrainyardJobsNotReadyInTime",
        cluster="lab",
        at="150m",
        # The counter begins with its first event.
        series={evicted("PodsReadyTimeout"): "_x140 1x30"},
        labels=TEAM,
        neighbours=(
            # Two hours ago.
            {evicted("PodsReadyTimeout"): "_x20 1x150"},
            {evicted("PodsReadyTimeout"): "3x20 4x150"},
            {evicted("PodsReadyTimeout"): "", evicted("Preempted"): "_x140 1x30"},
            {evicted("PodsReadyTimeout"): "", evicted("Preempted"): "3x140 4x30"},
        ),
    ),
    Case(
        alert="TrainyardJobsLostNodes",
        at="150m",
        series={evicted("NodeFailures"): "3x140 4x30"},
        labels=TEAM,
        neighbours=(
            {evicted("NodeFailures"): "3x20 4x150"},
            {evicted("NodeFailures"): "", evicted("Preempted"): "3x140 4x30"},
            {evicted("NodeFailures"): "", evicted("Preempted"): "_x140 1x30"},
            {evicted("NodeFailures"): "", evicted("NodeFailures", "theirs"): "3x140 4x30"},
        ),
    ),
)


def failed(namespace: str) -> str:
    return (
        f'jobset_failed_total{{jobset_name="llm",exported_namespace="{namespace}",'
        'namespace="openshift-jobset-operator"}'
    )


def container(reason: str, namespace: str = "team-nlp", kind: str = "container") -> str:
    return (
        f'kube_pod_{kind}_status_waiting_reason{{namespace="{namespace}",pod="llm-0",'
        f'container="node",reason="{reason}"}}'
    )


def quota(kind: str, resource: str = "count/trainjobs.trainer.kubeflow.org") -> str:
    return f'kube_resourcequota{{namespace="team-nlp",resource="{resource}",type="{kind}"}}'


NLP = {"namespace": "team-nlp", "team": "nlp"}
UNSCHEDULABLE = 'kube_pod_status_unschedulable{namespace="team-nlp",pod="llm-0"}'
JOBS = (
    Case(
        alert="TrainyardJobFailed",
        at="20m",
        series={failed("team-nlp"): "_x10 1x60"},
        labels={"jobset_name": "llm", **NLP},
        neighbours=(
            # It failed long ago, and the counter stays.
            {failed("team-nlp"): "1x60"},
            {failed("team-nlp"): "", failed("default"): "_x10 1x60"},
        ),
    ),
    Case(
        alert="TrainyardPodCannotStart",
        at="20m",
        series={container("ImagePullBackOff"): "1x30"},
        labels={"reason": "ImagePullBackOff", **NLP},
        neighbours=(
            {container("ImagePullBackOff"): "", container("ContainerCreating"): "1x30"},
            {
                container("ImagePullBackOff"): "",
                container("ImagePullBackOff", "kube-system"): "1x30",
            },
            {container("ImagePullBackOff"): "0x10 1x10 0x10"},
        ),
    ),
    Case(
        alert="TrainyardPodCannotStart",
        at="20m",
        series={container("ErrImagePull", kind="init_container"): "1x30"},
        labels={"reason": "ErrImagePull", **NLP},
        neighbours=({container("ErrImagePull", kind="init_container"): "0x30"},),
    ),
    Case(
        alert="TrainyardPodUnschedulable",
        at="40m",
        series={UNSCHEDULABLE: "1x60"},
        labels=NLP,
        neighbours=({UNSCHEDULABLE: "0x60"}, {UNSCHEDULABLE: "0x30 1x30"}),
    ),
    Case(
        alert="TrainyardTrainJobsNearQuota",
        at="20m",
        series={
            quota("used"): "95x30",
            quota("hard"): "100x30",
            quota("used", "count/configmaps"): "10x30",
            quota("hard", "count/configmaps"): "300x30",
        },
        labels=NLP,
        neighbours=(
            {quota("used"): "90x30"},
            {quota("used"): "80x30", quota("used", "count/configmaps"): "299x30"},
        ),
    ),
)


def application(name: str, sync: str = "Synced", health: str = "Healthy") -> str:
    return (
        f'argocd_app_info{{name="{name}",namespace="openshift-gitops",exported_namespace='
        f'"openshift-gitops",project="{name}",sync_status="{sync}",health_status="{health}"}}'
    )


def secret(status: str) -> str:
    return (
        'externalsecret_status_condition{namespace="external-secrets",condition="Ready",'
        f'exported_namespace="team-nlp",name="registry-pull",status="{status}"}}'
    )


BEHIND = application("prod-east-team-nlp", sync="OutOfSync")
ILL = application("prod-east-platform", health="Degraded")
DELIVERY = (
    Case(
        alert="TrainyardApplicationOutOfSync",
        at="40m",
        series={BEHIND: "1x60"},
        labels={"name": "prod-east-team-nlp", "team": "nlp"},
        neighbours=(
            {BEHIND: "", application("prod-east-team-nlp"): "1x60"},
            # Somebody starts each sync of it.
            {BEHIND: "", application("prod-east-nodes", sync="OutOfSync"): "1x60"},
            {BEHIND: "", application("theirs", sync="OutOfSync"): "1x60"},
        ),
    ),
    Case(
        alert="TrainyardApplicationDegraded",
        at="20m",
        series={ILL: "1x30"},
        labels={"name": "prod-east-platform", "health_status": "Degraded", "team": "platform"},
        neighbours=({ILL: "", application("prod-east-platform", health="Progressing"): "1x30"},),
    ),
    Case(
        alert="TrainyardSecretNotSynced",
        at="20m",
        series={secret("False"): "1x30", secret("True"): "0x30"},
        labels={"name": "registry-pull", **NLP},
        neighbours=(
            {secret("False"): "0x30", secret("True"): "1x30"},
            {secret("False"): "0x10 1x20", secret("True"): "1x10 0x20"},
            {secret("False"): "", secret("False").replace("team-nlp", "theirs"): "1x30"},
        ),
    ),
)


def node(number: int, kind: str = "dgx-h100") -> str:
    return f'kube_node_labels{{node="n{number}",label_ml_example_com_node_type="{kind}"}}'


def ready(number: int, status: str = "true") -> str:
    return f'kube_node_status_condition{{node="n{number}",condition="Ready",status="{status}"}}'


def cordoned(number: int) -> str:
    return f'kube_node_spec_unschedulable{{node="n{number}"}}'


POOL = {
    **{node(each): "1x60" for each in range(17)},
    **{ready(each): "1x60" for each in range(17)},
    **{cordoned(each): "0x60" for each in range(17)},
}
CORDONS = {cordoned(each): "0x90" for each in range(17)}
DEGRADED = 'mco_degraded_machine_count{pool="dgx-h100"}'


def maintained(number: int, pool: str = "dgx-h100") -> str:
    return f'trainyard:node:maintenance_until{{node="n{number}",pool="{pool}"}}'


NODE = '{Hostname="n1",gpu="0",UUID="GPU-1",exported_namespace="team-nlp"}'
GPU = {"node": "n1", "UUID": "GPU-1", "gpu": "0"}


def xid(number: int) -> str:
    """Return a series of the last XID; its label changes with its value."""
    return f'DCGM_FI_DEV_XID_ERRORS{NODE[:-1]},err_code="{number}"}}'


NODES = (
    Case(
        alert="TrainyardPoolBelowQuota",
        at="20m",
        series={**POOL, ready(3): "0x60", cordoned(5): "1x60"},
        labels={"pool": "dgx-h100"},
        neighbours=(
            # The reserve takes the place of one.
            {ready(3): "1x60"},
            {cordoned(5): "0x60"},
            {ready(3): "1x10 0x10 1x40"},
        ),
    ),
    Case(
        alert="TrainyardPoolBelowQuota",
        at="20m",
        # kube-state-metrics does not show the labels of nodes.
        series={ready(each): "1x60" for each in range(17)},
        labels={"pool": "dgx-h100"},
        neighbours=(POOL,),
    ),
    Case(
        alert="TrainyardReserveUsed",
        at="70m",
        series={**dict.fromkeys(POOL, "1x90"), **CORDONS, ready(3): "0x90"},
        labels={"pool": "dgx-h100"},
        neighbours=(
            {ready(3): "1x90"},
            # Then the quota is not there either.
            {cordoned(5): "1x90"},
            {ready(3): "1x30 0x60"},
        ),
    ),
    Case(
        alert="TrainyardPoolConfigFailed",
        at="20m",
        series={DEGRADED: "1x30"},
        labels={"pool": "dgx-h100"},
        neighbours=(
            {DEGRADED: "0x30"},
            {DEGRADED: "0x10 1x20"},
            {DEGRADED: "", DEGRADED.replace("dgx-h100", "master"): "1x30"},
        ),
    ),
    Case(
        alert="TrainyardPoolBelowQuota",
        at="20m",
        # A node in maintenance counts for nothing, though it is ready; one more is lost.
        series={**POOL, ready(3): "0x60", maintained(5): "36000x60"},
        labels={"pool": "dgx-h100"},
        neighbours=({ready(3): "1x60"}, {maintained(5): ""}),
    ),
    Case(
        alert="TrainyardNodeOutOfUse",
        at="80m",
        series={node(3): "1x90", ready(3): "1x90", cordoned(3): "1x90"},
        labels={"node": "n3", "pool": "dgx-h100"},
        neighbours=(
            {cordoned(3): "0x90"},
            {cordoned(3): "1x50 0x40"},
            {maintained(3): "36000x90"},
            # A node of no pool.
            {node(3): ""},
        ),
    ),
    Case(
        alert="TrainyardNodeOutOfUse",
        at="80m",
        series={node(3): "1x90", ready(3): "0x90", cordoned(3): "0x90"},
        labels={"node": "n3", "pool": "dgx-h100"},
        neighbours=({ready(3): "1x90"}, {maintained(3): "36000x90"}),
    ),
    Case(
        alert="TrainyardNodeNotCordoned",
        at="40m",
        series={ready(3): "1x90", cordoned(3): "0x90", maintained(3): "36000x90"},
        labels={"node": "n3", "pool": "dgx-h100"},
        neighbours=(
            {cordoned(3): "1x90"},
            # It is off.
            {ready(3): "0x90"},
            # kube-state-metrics does not show the labels of nodes.
            {maintained(3): "", maintained(4): "36000x90"},
        ),
    ),
    Case(
        alert="TrainyardNodeNotCordoned",
        at="40m",
        # n33 for n3, which somebody cordoned.
        series={
            node(3): "1x90",
            ready(3): "1x90",
            cordoned(3): "1x90",
            maintained(33): "36000x90",
        },
        labels={"node": "n33", "pool": "dgx-h100"},
        neighbours=(
            {maintained(33): "", maintained(3): "36000x90"},
            {node(33): "1x90", ready(33): "0x90"},
            # It is there again after 20 minutes.
            {node(33): "_x20 1x70", ready(33): "_x20 0x70"},
            {node(3): ""},
        ),
    ),
    Case(
        alert="TrainyardNodeNotCordoned",
        cluster="lab",
        at="40m",
        # A node of another pool.
        series={
            node(3, "xe9680-h200"): "1x90",
            ready(3): "1x90",
            cordoned(3): "1x90",
            node(4, "cpu-epyc"): "1x90",
            maintained(3, "cpu"): "36000x90",
        },
        labels={"node": "n3", "pool": "cpu"},
        neighbours=({maintained(3, "cpu"): "", maintained(3, "xe9680-h200"): "36000x90"},),
    ),
    Case(
        alert="TrainyardNodesOverdue",
        at="70m",
        series={maintained(3): "3600x90", maintained(4): "3600x90", maintained(5): "36000x90"},
        labels={"pool": "dgx-h100"},
        value="2",
        neighbours=({maintained(3): "36000x90", maintained(4): "36000x90"},),
    ),
    Case(
        alert="TrainyardGpuXid",
        at="5m",
        # Another node is in maintenance; of the exporter's newer versions the label is small.
        series={
            f"DCGM_FI_DEV_XID_ERRORS{NODE.replace('Hostname', 'hostname')}": "79x10",
            maintained(2): "36000x10",
        },
        labels=GPU,
        value="79",
        neighbours=({maintained(1): "36000x10"},),
    ),
    Case(
        alert="TrainyardGpuXid",
        at="5m",
        series={xid(79): "79x10"},
        labels=GPU,
        value="79",
        neighbours=(
            {maintained(1): "36000x10"},
            {xid(79): "", xid(0): "0x10"},
            # An error of the program, and one that the driver has contained.
            {xid(79): "", xid(13): "13x10"},
            {xid(79): "", xid(63): "63x10"},
        ),
    ),
    Case(
        alert="TrainyardGpuXid",
        at="600m",
        # Another follows at once, and then the exporter is gone with the GPU.
        series={xid(48): "_x10 48x2", xid(45): "_x13 45x60"},
        labels=GPU,
        value="48",
        neighbours=(
            # The GPU was reset, and the exporter has stopped since then.
            {xid(45): "_x13 45x60", xid(0): "0x9 _x70 0x20"},
            {xid(48): ""},
        ),
    ),
    Case(
        alert="TrainyardGpuXid",
        at="1400m",
        series={xid(95): "95x2", xid(45): "_x3 45x1600"},
        labels=GPU,
        value="95",
        # More than a day ago.
        neighbours=({xid(95): "", xid(94): "94x2"},),
    ),
    Case(
        alert="TrainyardGpuRowRemapFailed",
        at="5m",
        series={f"DCGM_FI_DEV_ROW_REMAP_FAILURE{NODE}": "1x10"},
        labels=GPU,
        neighbours=(
            {f"DCGM_FI_DEV_ROW_REMAP_FAILURE{NODE}": "0x10"},
            {maintained(1): "36000x10"},
        ),
    ),
    Case(
        alert="TrainyardGpuUncorrectableErrors",
        at="30m",
        series={f"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS{NODE}": "0x10 1x30"},
        labels=GPU,
        neighbours=(
            {f"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS{NODE}": "1x40"},
            {maintained(1): "36000x40"},
        ),
    ),
)


def state(metric: str, namespace: str = "team-nlp", job: str = "llm", **labels: str) -> str:
    """Return a series of kube-state-metrics' own configuration, as a scrape writes it."""
    found = {
        "namespace": "monitoring",
        "pod": "kube-state-metrics-0",
        "job_namespace": namespace,
        "job_name": job,
        **labels,
    }
    inside = ",".join(f'{key}="{value}"' for key, value in found.items())
    return f"trainyard_{metric}{{{inside}}}"


def workload(metric: str, **labels: str) -> str:
    given = {"workload": "trainjob-llm", "job_kind": "TrainJob", "active": "true", **labels}
    return state(f"workload_{metric}_timestamp_seconds", **given)


def part(name: str, active: str = "1", job: str = "llm") -> str:
    return state("trainjob_part_ready", job=job, part=name, active=active)


def gpu(pod: str, own: bool = False) -> str:
    """Return the use of a GPU, by a scrape whose labels win or by one whose own labels do."""
    where = ("pod", "namespace") if own else ("exported_pod", "exported_namespace")
    scrape = "" if own else ',pod="dcgm-exporter-x",namespace="nvidia-gpu-operator"'
    return f'DCGM_FI_DEV_GPU_UTIL{{{where[0]}="{pod}",{where[1]}="team-nlp",gpu="0"{scrape}}}'


def owner(pod: str, job: str = "llm-node-0") -> str:
    labels = f'namespace="team-nlp",pod="{pod}",owner_kind="Job",owner_name="{job}"'
    return f"kube_pod_owner{{{labels}}}"


LATE = workload("quota", priority="interactive", reserved="False")
NEW = workload("created", priority="interactive")
ADMITTED = workload("created", priority="batch", admitted="True", reserved="True")
WORKS, IDLES = gpu("llm-node-0-0-a"), gpu("llm-node-0-1-b")
GPUS_OF_JOB = {
    WORKS: "95x90",
    IDLES: "0x90",
    owner("llm-node-0-0-a"): "1x90",
    owner("llm-node-0-1-b"): "1x90",
}
PAUSED = 'trainyard_machine_config_pool_paused{pool="dgx-h100"}'
SYNC = 'trainyard_sriov_sync_failed{node="n1",status="Failed"}'
STATES = (
    Case(
        alert="TrainyardJobWaitsTooLong",
        at="40m",
        # The tests begin at second 0, and interactive jobs may wait for 30 minutes.
        series={LATE: "0x60"},
        labels={"priority": "interactive", **NLP},
        value="1",
        neighbours=(
            # It lost its quota 20 minutes ago, and was made long before.
            {
                LATE: "1200x60",
                workload("created", priority="interactive", reserved="False"): "0x60",
            },
            {LATE: "", workload("quota", priority="production", reserved="False"): "0x60"},
            {LATE: "", workload("quota", priority="interactive", reserved="True"): "0x60"},
            {LATE: "", LATE.replace('active="true"', 'active="false"'): "0x60"},
            {LATE: "", LATE.replace("team-nlp", "theirs"): "0x60"},
            {
                LATE: "",
                workload(
                    "quota", priority="interactive", reserved="False", finished="True"
                ): "0x60",
            },
        ),
    ),
    Case(
        alert="TrainyardJobWaitsTooLong",
        at="40m",
        # Kueue has not tried to admit them: another job is before them.
        series={NEW: "0x60", NEW.replace("trainjob-llm", "trainjob-other"): "0x60"},
        labels={"priority": "interactive", **NLP},
        value="2",
        neighbours=({NEW: "1200x60", NEW.replace("trainjob-llm", "trainjob-other"): "1200x60"},),
    ),
    Case(
        alert="TrainyardJobWaitsTooLong",
        at="1500m",
        series={workload("quota", reserved="False"): "0x1600"},
        labels={"priority": "(none)", **NLP},
        value="1",
        neighbours=({workload("quota", reserved="False"): "36000x1600"},),
    ),
    Case(
        alert="TrainyardJobNotRunning",
        at="40m",
        # The nodes are ready, and the launcher is not.
        series={ADMITTED: "0x60", part("node"): "1x60", part("launcher"): "0x60"},
        labels={"job_name": "llm", **NLP},
        neighbours=(
            {part("launcher"): "1x60"},
            {ADMITTED: "", NEW: "0x60"},
            # A part that has ended, or has not begun.
            {part("launcher"): "", part("launcher", active="0"): "0x60"},
            {part("launcher"): "0x20 1x40"},
            {ADMITTED: "", ADMITTED.replace("team-nlp", "theirs"): "0x60"},
            {ADMITTED: "", ADMITTED.replace('job_kind="TrainJob"', 'job_kind="Job"'): "0x60"},
        ),
    ),
    Case(
        alert="TrainyardJobNotRunning",
        at="40m",
        # No pod was created at all, and another job of the namespace runs.
        series={
            ADMITTED: "0x60",
            part("node", active="0"): "0x60",
            part("node", job="other"): "1x60",
        },
        labels={"job_name": "llm", **NLP},
        neighbours=({part("node", active="0"): "", part("node"): "1x60"},),
    ),
    Case(
        alert="TrainyardPoolPaused",
        at="1500m",
        series={PAUSED: "1x1600"},
        labels={"pool": "dgx-h100"},
        neighbours=(
            {PAUSED: "0x1600"},
            {PAUSED: "0x500 1x1100"},
            {PAUSED: "", PAUSED.replace("dgx-h100", "master"): "1x1600"},
        ),
    ),
    Case(
        alert="TrainyardSriovSyncFailed",
        at="20m",
        series={node(1): "1x30", SYNC: "1x30"},
        labels={"node": "n1"},
        neighbours=({SYNC: "0x30"}, {SYNC: "0x10 1x20"}, {node(1): ""}),
    ),
)
USED_GPUS = (
    Case(
        alert="TrainyardGpuIdleInJob",
        at="50m",
        series=GPUS_OF_JOB,
        labels={"owner_name": "llm-node-0", **NLP},
        value="1",
        neighbours=(
            {IDLES: "90x90"},
            # The whole job does nothing.
            {WORKS: "0x90"},
            # It loads its data.
            {IDLES: "0x25 90x65"},
            # The GPU of another job.
            {owner("llm-node-0-1-b"): "", owner("llm-node-0-1-b", "other-node-0"): "1x90"},
        ),
    ),
    Case(
        alert="TrainyardGpuIdleInJob",
        at="50m",
        series={
            gpu("llm-node-0-0-a", own=True): "95x90",
            gpu("llm-node-0-1-b", own=True): "0x90",
            owner("llm-node-0-0-a"): "1x90",
            owner("llm-node-0-1-b"): "1x90",
        },
        labels={"owner_name": "llm-node-0", **NLP},
        value="1",
        neighbours=({gpu("llm-node-0-1-b", own=True): "90x90"},),
    ),
)


def port(metric: str, device: str = "mlx5_0") -> str:
    return f'node_infiniband_{metric}{{instance="10.0.0.1:9100",device="{device}",port="1"}}'


NAME = 'node_uname_info{instance="10.0.0.1:9100",nodename="n1"}'
HOST = {node(1): "1x190", NAME: "1x190"}
RAIL = {
    "instance": "10.0.0.1:9100",
    "device": "mlx5_0",
    "port": "1",
    "node": "n1",
    "pool": "dgx-h100",
}


def rail(alert: str, at: str, metric: str, fires: str, *quiet: str) -> Case:
    """Return the case of a rail: other values, another port and another node are its neighbours."""
    return Case(
        alert=alert,
        at=at,
        series={**HOST, port(metric): fires},
        labels=RAIL,
        neighbours=(
            *({port(metric): values} for values in quiet),
            # A port of the storage.
            {port(metric): "", port(metric, "mlx5_1"): fires},
            # A node of no pool.
            {node(1): ""},
            {maintained(1): "36000x190"},
        ),
    )


DEVICES = [f"mlx5_{number}" for number in (0, 3, 4, 5, 6, 9, 10, 11)]
UP = {**HOST, **{port("state_id", device): "4x90" for device in DEVICES}}
LOST = {key: value for key, value in RAIL.items() if key != "port"}
RAILS = (
    Case(
        alert="TrainyardRailDown",
        at="10m",
        series={**UP, port("state_id"): "1x90"},
        labels=RAIL,
        neighbours=(
            {port("state_id"): "4x90"},
            {port("state_id"): "4x8 1x80"},
            # A port of the storage.
            {port("state_id"): "4x90", port("state_id", "mlx5_1"): "1x90"},
            # A node of no pool.
            {node(1): ""},
            {maintained(1): "36000x190"},
        ),
    ),
    Case(
        alert="TrainyardRailDown",
        at="20m",
        # The card falls off the bus.
        series={**UP, port("state_id"): "4x8"},
        labels=LOST,
        neighbours=(
            {port("state_id"): "4x18"},
            {node(1): ""},
            {maintained(1): "36000x190"},
            # The whole exporter has no answer.
            {NAME: "1x8", **{port("state_id", device): "4x8" for device in DEVICES}},
            # No node shows any port: then its metrics are missing.
            {port("state_id", device): "" for device in DEVICES},
        ),
    ),
    rail("TrainyardRailSlow", "20m", "rate_bytes_per_second", "25000000000x90", "50000000000x90"),
    rail("TrainyardRailFlaps", "150m", "link_downed_total", "3x140 4x50", "3x20 4x170"),
    rail(
        "TrainyardRailErrors", "150m", "symbol_error_total", "0+1x190", "0x140 1x50", "0x20 90x170"
    ),
)


def reconciled(metric: str, controller: str = "trainjob_controller") -> str:
    return f'controller_runtime_reconcile_{metric}{{controller="{controller}"}}'


CERTIFICATE = "certwatcher_read_certificate_errors_total"
CONTROLLERS = (
    Case(
        alert="TrainyardControllerErrors",
        at="60m",
        series={reconciled("errors_total"): "0+9x90", reconciled("total"): "0+10x90"},
        labels={"controller": "trainjob_controller"},
        neighbours=(
            {reconciled("errors_total"): "0+1x90"},
            {
                reconciled("errors_total"): "",
                reconciled("total"): "",
                reconciled("errors_total", "theirs"): "0+9x90",
                reconciled("total", "theirs"): "0+10x90",
            },
        ),
    ),
    Case(
        alert="TrainyardCertificateUnreadable",
        at="150m",
        series={f'{CERTIFICATE}{{namespace="openshift-kueue-operator"}}': "0x130 1x60"},
        labels={"namespace": "openshift-kueue-operator", "source": "kueue"},
        neighbours=(
            {f'{CERTIFICATE}{{namespace="openshift-kueue-operator"}}': "0x20 1x170"},
            {
                f'{CERTIFICATE}{{namespace="openshift-kueue-operator"}}': "",
                f'{CERTIFICATE}{{namespace="theirs"}}': "0x130 1x60",
            },
        ),
    ),
)

CASES = (*QUEUES, *JOBS, *STATES, *USED_GPUS, *DELIVERY, *NODES, *RAILS, *CONTROLLERS)

SOURCES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "argocd": (application("x"), {}),
    "dcgm-exporter": ("DCGM_FI_DEV_XID_ERRORS", {}),
    "external-secrets": (secret("True"), {}),
    "jobset": (reconciled("total", "jobset"), {"controller": "jobset"}),
    "kube-state-metrics": (ready(1), {}),
    "kueue": (ACTIVE, {}),
    "machine-config": (DEGRADED, {}),
    "node-exporter": (port("state_id"), {}),
    "trainer": (reconciled("total"), {"controller": "trainjob_controller"}),
}
"""Source -> a series of it, and the labels that its alert has beside those of the rule."""
