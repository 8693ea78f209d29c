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


DEVICES = ("nvidia_com_gpu", *(f"openshift_io_ib_rail_{number}" for number in range(8)))
"""What a node of the pool offers, as kube-state-metrics names it; 8 of each."""


def offers(number: int, resource: str = "nvidia_com_gpu", unit: str = "integer") -> str:
    labels = f'node="n{number}",resource="{resource}",unit="{unit}"'
    return f"kube_node_status_allocatable{{{labels}}}"


def whole(number: int, minutes: int = 90) -> Series:
    """Return a node that is ready and offers what its hardware profile states."""
    devices = {offers(number, each): f"8x{minutes}" for each in DEVICES}
    return {node(number): f"1x{minutes}", ready(number): f"1x{minutes}", **devices}


POOL = {
    name: values
    for each in range(17)
    for name, values in {**whole(each), cordoned(each): "0x90"}.items()
}
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
        series={**POOL, ready(3): "0x90"},
        labels={"pool": "dgx-h100"},
        neighbours=(
            {ready(3): "1x90"},
            # A GPU is lost: then one more is not there either.
            {offers(5): "7x90"},
            # Then the quota is not there either.
            {cordoned(5): "1x90"},
            {ready(3): "1x30 0x60"},
        ),
    ),
    Case(
        alert="TrainyardReserveUsed",
        at="70m",
        # The node is ready, and has one GPU less.
        series={**POOL, offers(3): "7x90"},
        labels={"pool": "dgx-h100"},
        neighbours=({offers(3): "8x90"},),
    ),
    Case(
        alert="TrainyardPoolBelowQuota",
        at="20m",
        # A GPU of one, and the virtual functions of a rail of another.
        series={**POOL, offers(3): "7x90", offers(5, DEVICES[4]): "0x90"},
        labels={"pool": "dgx-h100"},
        neighbours=({offers(3): "8x90"}, {offers(5, DEVICES[4]): "8x90"}),
    ),
    *(
        Case(
            alert="TrainyardNodeLacksDevices",
            at="30m",
            series={**whole(3), cordoned(3): "0x90", offers(3, resource): values},
            labels={"node": "n3", "pool": "dgx-h100"},
            value="1",
            neighbours=(
                {offers(3, resource): "8x90"},
                # Its driver restarts.
                {offers(3, resource): "8x10 0x10 8x60"},
                # It is out of use anyway.
                {cordoned(3): "1x90"},
                {ready(3): "0x90"},
                {maintained(3): "36000x90"},
                # A node of no pool.
                {node(3): ""},
            ),
        )
        for resource, values in ((DEVICES[0], "7x90"), (DEVICES[4], "0x90"), (DEVICES[8], ""))
    ),
    Case(
        alert="TrainyardNodeLacksDevices",
        at="30m",
        # kubelet has registered none of the device plugins.
        series={**whole(3), **{offers(3, each): "0x90" for each in DEVICES}},
        labels={"node": "n3", "pool": "dgx-h100"},
        value="9",
        neighbours=({offers(3, each): "8x90" for each in DEVICES},),
    ),
    Case(
        alert="TrainyardNodeLacksDevices",
        cluster="lab",
        at="30m",
        # A pool without GPUs and rails counts CPUs.
        series={node(3, "cpu-epyc"): "1x90", ready(3): "1x90", offers(3, "cpu", "core"): "128x90"},
        labels={"node": "n3", "pool": "cpu"},
        value="1",
        neighbours=({offers(3, "cpu", "core"): "254x90"},),
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


def jobset(job: str = "llm-node-0", name: str = "llm") -> str:
    labels = f'namespace="team-nlp",job_name="{job}",owner_kind="JobSet",owner_name="{name}"'
    return f'kube_job_owner{{{labels},owner_is_controller="true"}}'


LATE = workload("quota", priority="interactive", reserved="False")
NEW = workload("created", priority="interactive")
ADMITTED = workload("created", priority="batch", admitted="True", reserved="True")
WORKS, IDLES = gpu("llm-node-0-0-a"), gpu("llm-node-0-1-b")
OWNERS = {
    owner("llm-node-0-0-a"): "1x190",
    owner("llm-node-0-1-b"): "1x190",
    jobset(): "1x190",
}
GPUS_OF_JOB = {WORKS: "95x90", IDLES: "0x90", **OWNERS}


def tensor(pod: str, own: bool = False) -> str:
    return gpu(pod, own).replace("DEV_GPU_UTIL", "PROF_PIPE_TENSOR_ACTIVE")


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
        labels={"trainjob": "llm", **NLP},
        value="1",
        neighbours=(
            {IDLES: "90x90"},
            # The whole job does nothing.
            {WORKS: "0x90"},
            # It loads its data.
            {IDLES: "0x25 90x65"},
            # The GPU of another job.
            {
                owner("llm-node-0-1-b"): "",
                owner("llm-node-0-1-b", "other-node-0"): "1x90",
                jobset("other-node-0", "other"): "1x90",
            },
            # A job that no TrainJob has.
            {jobset(): ""},
        ),
    ),
    Case(
        alert="TrainyardGpuIdleInJob",
        at="50m",
        # The launcher of a job is a Job of its own, and its GPUs have ranks too.
        series={
            **GPUS_OF_JOB,
            owner("llm-node-0-1-b"): "",
            owner("llm-node-0-1-b", "llm-launcher-0"): "1x90",
            jobset("llm-launcher-0"): "1x90",
        },
        labels={"trainjob": "llm", **NLP},
        value="1",
        neighbours=({IDLES: "90x90"},),
    ),
    Case(
        alert="TrainyardGpuIdleInJob",
        at="50m",
        series={
            gpu("llm-node-0-0-a", own=True): "95x90",
            gpu("llm-node-0-1-b", own=True): "0x90",
            **OWNERS,
        },
        labels={"trainjob": "llm", **NLP},
        value="1",
        neighbours=({gpu("llm-node-0-1-b", own=True): "90x90"},),
    ),
    Case(
        alert="TrainyardJobIdle",
        at="90m",
        series={WORKS: "0x190", IDLES: "0x190", **OWNERS},
        labels={"trainjob": "llm", **NLP},
        neighbours=(
            # One GPU of it works.
            {WORKS: "30x190"},
            # It loaded its data for half an hour.
            {WORKS: "0x30 90x160", IDLES: "0x30 90x160"},
            # It did nothing for half an hour.
            {WORKS: "90x60 0x130", IDLES: "90x60 0x130"},
            {jobset(): ""},
        ),
    ),
    Case(
        alert="TrainyardJobSpins",
        at="60m",
        series={
            WORKS: "100x190",
            IDLES: "100x190",
            tensor("llm-node-0-0-a"): "0x190",
            tensor("llm-node-0-1-b"): "0x190",
            **OWNERS,
        },
        labels={"trainjob": "llm", **NLP},
        neighbours=(
            # One rank computes.
            {tensor("llm-node-0-1-b"): "0.3x190"},
            {IDLES: "60x190"},
            # A collective that waited for 20 minutes.
            {
                tensor("llm-node-0-0-a"): "0.3x20 0x20 0.3x150",
                tensor("llm-node-0-1-b"): "0.3x20 0x20 0.3x150",
            },
            # The exporter does not have it.
            {tensor("llm-node-0-0-a"): "", tensor("llm-node-0-1-b"): ""},
            {jobset(): ""},
        ),
    ),
)


def claim(what: str, name: str = "scratch", namespace: str = "team-nlp", node: str = "n1") -> str:
    labels = f'namespace="{namespace}",persistentvolumeclaim="{name}",node="{node}"'
    return f"kubelet_volume_stats_{what}_bytes{{{labels}}}"


FILLED = {
    claim("used"): "900x60",
    claim("capacity"): "1000x60",
    # The same volume on another node, whose kubelet measured it before.
    claim("used", node="n2"): "100x60",
    claim("capacity", node="n2"): "1000x60",
}
_CLAIM = {"persistentvolumeclaim": "scratch", **NLP}


def on_export(values: str) -> Series:
    """Return an NFS volume, which has the size of the whole export, instead of the claim."""
    return {
        claim("used"): "",
        claim("used", "home"): values,
        claim("capacity", "home"): "1000x60",
    }


STORAGE = (
    Case(
        alert="TrainyardVolumeFillsUp",
        at="30m",
        series=FILLED,
        labels=_CLAIM,
        neighbours=(
            {claim("used"): "840x60"},
            # Then it is full, which is another alert.
            {claim("used"): "960x60"},
            {claim("used"): "800x20 900x40"},
            on_export("900x60"),
            # A volume of somebody else.
            {
                claim("used"): "",
                claim("used", namespace="theirs"): "900x60",
                claim("capacity", namespace="theirs"): "1000x60",
            },
        ),
    ),
    Case(
        alert="TrainyardVolumeFull",
        at="30m",
        series={**FILLED, claim("used"): "960x60"},
        labels=_CLAIM,
        neighbours=(
            {claim("used"): "940x60"},
            {claim("used"): "940x27 960x33"},
            on_export("990x60"),
        ),
    ),
)

_CRON = '{namespace="trainyard-system",cronjob="finished-jobs"}'
SUCCEEDED = f"kube_cronjob_status_last_successful_time{_CRON}"
SCHEDULED = f"kube_cronjob_status_last_schedule_time{_CRON}"
_OF_CRON = {"namespace": "trainyard-system", "cronjob": "finished-jobs"}
CLEAN_UP = (
    Case(
        alert="TrainyardCleanUpFails",
        at="300m",
        # It succeeded in the first hour and never again.
        series={SUCCEEDED: "1020x400", SCHEDULED: "1020+60x400"},
        labels=_OF_CRON,
        neighbours=(
            # The last time, and each hour before.
            {SUCCEEDED: "1020x60 4620x60 8220x60 11820x60 15420x60"},
            # One run of an hour failed.
            {SUCCEEDED: "1020x60 4620x120 11820x60 15420x60"},
        ),
    ),
    Case(
        alert="TrainyardCleanUpFails",
        at="300m",
        series={SCHEDULED: "1020+60x400"},
        labels=_OF_CRON,
        neighbours=(
            {SCHEDULED: "_x240 15420x100"},
            # A CronJob of somebody else.
            {SCHEDULED: "", SCHEDULED.replace("trainyard-system", "theirs"): "1020+60x400"},
        ),
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


PORTS = [f"mlx5_{number}" for number in (0, 3, 4, 5, 6, 9, 10, 11)]
UP = {**HOST, **{port("state_id", device): "4x90" for device in PORTS}}


def second(metric: str, device: str = "mlx5_0") -> str:
    """Return a port of the pool's other node."""
    return port(metric, device).replace("10.0.0.1", "10.0.0.2")


SECOND = {
    node(2): "1x190",
    NAME.replace("10.0.0.1", "10.0.0.2").replace("n1", "n2"): "1x190",
    **{second("state_id", device): "4x90" for device in PORTS},
}
RENAMED = {
    **HOST,
    **{port("state_id", f"ibp{number}"): "4x90" for number in range(8)},
}
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
        series={**UP, **SECOND, port("state_id"): "4x8"},
        labels=LOST,
        neighbours=(
            {port("state_id"): "4x18"},
            {node(1): ""},
            {maintained(1): "36000x190"},
            # The whole exporter has no answer.
            {NAME: "1x8", **{port("state_id", device): "4x8" for device in PORTS}},
            # No node shows any port: then its metrics are missing.
            {each("state_id", device): "" for device in PORTS for each in (port, second)},
            # No node shows this one: then its name is another.
            {port("state_id"): "", second("state_id"): ""},
        ),
    ),
    Case(
        alert="TrainyardRailNamesDiffer",
        at="10m",
        # The kernel names each port of both nodes by its slot.
        series={**RENAMED, **SECOND, **{second("state_id", device): "" for device in PORTS}},
        labels={"pool": "dgx-h100"},
        value="8",
        neighbours=(
            # One node has the names of the profile: then the other has lost its cards.
            SECOND,
            {port("state_id", f"ibp{number}"): "" for number in range(8)},
            UP,
        ),
    ),
    Case(
        alert="TrainyardRailNamesDiffer",
        at="10m",
        # It counts on without the ports of the storage.
        series={**HOST, **{port("state_id", f"mlx5_{number}"): "4x90" for number in range(8)}},
        labels={"pool": "dgx-h100"},
        value="3",
        neighbours=(UP, {NAME: ""}, {node(1): ""}),
    ),
    rail("TrainyardRailSlow", "20m", "rate_bytes_per_second", "25000000000x90", "50000000000x90"),
    rail("TrainyardRailFlaps", "150m", "link_downed_total", "3x140 4x50", "3x20 4x170"),
    rail(
        "TrainyardRailErrors", "150m", "symbol_error_total", "0+1x190", "0x140 1x50", "0x20 90x170"
    ),
)


def reconciled(metric: str, controller: str = "trainjob_controller") -> str:
    return f'controller_runtime_reconcile_{metric}{{controller="{controller}"}}'


def rejected(error: str, webhook: str = "mtrainjob.kb.io") -> str:
    labels = f'name="{webhook}",type="admit",operation="CREATE",error_type="{error}"'
    return f'apiserver_admission_webhook_rejection_count{{{labels},instance="10.0.0.1:6443"}}'


def checked(error: str, policy: str = "trainyard-trainjob-limits") -> str:
    labels = f'policy="{policy}",policy_binding="{policy}",error_type="{error}"'
    name = "apiserver_validating_admission_policy_check_total"
    return f'{name}{{{labels},enforcement_action="deny"}}'


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

ADMISSION = (
    Case(
        alert="TrainyardWebhookFails",
        at="40m",
        series={rejected("calling_webhook_error"): "0+1x60"},
        labels={"name": "mtrainjob.kb.io"},
        neighbours=(
            # What it refuses because the object is wrong.
            {rejected("calling_webhook_error"): "", rejected("no_error"): "0+1x60"},
            # Once, when the webhook restarted.
            {rejected("calling_webhook_error"): "0x25 1x35"},
            {rejected("calling_webhook_error"): "5x60"},
        ),
    ),
    Case(
        alert="TrainyardWebhookFails",
        at="40m",
        # Each of three API servers has its own counter.
        series={
            rejected("calling_webhook_error"): "0+1x60",
            rejected("calling_webhook_error").replace("10.0.0.1", "10.0.0.2"): "7x60",
        },
        labels={"name": "mtrainjob.kb.io"},
        neighbours=({rejected("calling_webhook_error"): "7x60"},),
    ),
    Case(
        alert="TrainyardPolicyFails",
        at="40m",
        series={checked("compile_error"): "0+1x60"},
        labels={"policy": "trainyard-trainjob-limits"},
        neighbours=(
            # The API server counts each job that a policy refuses so.
            {checked("compile_error"): "", checked("invalid_error"): "0+1x60"},
            {checked("compile_error"): "0x25 1x35"},
            # A policy of somebody else.
            {checked("compile_error"): "", checked("compile_error", "theirs"): "0+1x60"},
        ),
    ),
    Case(
        alert="TrainyardPolicyFails",
        at="40m",
        series={checked("out_of_budget"): "0+1x60"},
        labels={"policy": "trainyard-trainjob-limits"},
        neighbours=({checked("out_of_budget"): "4x60"},),
    ),
)

CASES = (
    *QUEUES,
    *JOBS,
    *STATES,
    *USED_GPUS,
    *CLEAN_UP,
    *DELIVERY,
    *STORAGE,
    *NODES,
    *RAILS,
    *ADMISSION,
    *CONTROLLERS,
)

SOURCES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "apiserver": ("apiserver_admission_webhook_admission_duration_seconds_count", {}),
    "argocd": (application("x"), {}),
    "dcgm-exporter": ("DCGM_FI_DEV_XID_ERRORS", {}),
    "external-secrets": (secret("True"), {}),
    "jobset": ('controller_runtime_reconcile_total{controller="pod",instance="jobset"}', {}),
    "kube-state-metrics": (ready(1), {}),
    "kubelet": ("container_memory_working_set_bytes", {}),
    "kueue": (ACTIVE, {}),
    "machine-config": (DEGRADED, {}),
    "node-exporter": (port("state_id"), {}),
    "sriov-metrics-exporter": ('sriov_vf_tx_bytes{pf="ens1f0np0",vf="0"}', {}),
    "trainer": (reconciled("total"), {"controller": "trainjob_controller"}),
}
"""Source -> a series of it, and the labels that its alert has beside those of the rule."""
BESIDE = {
    'controller_runtime_reconcile_total{controller="jobset",instance="jobset"}': "1x30",
    'controller_runtime_reconcile_total{controller="jobset",instance="kueue"}': "1x30",
}
"""Series that say nothing of a source: Kueue has a controller of JobSets too."""
