"""What makes each alert fire on a control plane, and what ends it.

A scenario is a generator: it begins what the alert is about, yields, and ends it. What it needs of
the control plane before it begins is in the order of the scenarios.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

from tests.e2e.exporters import HOST
from tests.e2e.git import APPLICATION, Git, component_file
from tests.e2e.objects import KUEUE
from tests.e2e.setup import SPARE
from tests.e2e.watched import Watched
from trainyard.golang import cache_folder
from trainyard_rehearsal.checks.jobs import Job
from trainyard_rehearsal.checks.variants import as_applied
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.fakes import STATUSES
from trainyard_rehearsal.control_plane.refusal import Refused

Scenario = Callable[[Watched], Generator[None]]
Expected = Mapping[str, Mapping[str, str]]
"""Alert -> labels that it has when it fires."""

_RBAC = "rbac.authorization.k8s.io"
_TRAINER = "trainer-kubeflow-trainer-controller-manager"
_QUOTA = "count/trainjobs.trainer.kubeflow.org"
_GPU = "nvidia.com/gpu"
_CORDON = {"spec": {"unschedulable": True}}
_PODS = 2
_UNCORDON = {"spec": {"unschedulable": False}}


def failed_job(watched: Watched) -> Generator[None]:
    """Each pod of a job fails, and again after each restart; the alert ends by itself."""
    scene = watched.scene
    job = scene.submit("vision", 2)
    assert scene.runs(job)

    def failed() -> bool:
        for role in ("launcher", "node"):
            job.finish(role, 1)
        return job.has_finished

    assert scene.stage.until(failed)
    yield


def missing_image(watched: Watched) -> Generator[None]:
    """A kubelet reports that it can't pull the image of a job's pod."""
    scene = watched.scene
    job = scene.submit("vision", 2)
    assert scene.runs(job)
    assert scene.stage.until(lambda: any(pod.phase == "Running" for pod in job.pods))
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
    pod = next(each.body for each in job.pods if each.phase == "Running")
    statuses = [
        {**each, "ready": False, "state": waiting} for each in pod["status"]["containerStatuses"]
    ]
    scene.api.patch(pod, {"status": {"containerStatuses": statuses}}, "status")
    yield
    job.delete()


def pod_without_a_node(watched: Watched) -> Generator[None]:
    """The scheduler finds no node for a pod of a team."""
    api = watched.scene.api
    body = _pod("nowhere")
    api.create(body)
    yield
    api.delete(body)


def _pod(name: str) -> Body:
    limits = {"cpu": "1", "memory": "1Gi"}
    context = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    container = {"name": "main", "image": "none", "securityContext": context}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "team-nlp"},
        "spec": {
            "containers": [{**container, "resources": {"limits": limits, "requests": limits}}],
            "nodeSelector": {"kubernetes.io/hostname": "nowhere"},
        },
    }


def full_quota(watched: Watched) -> Generator[None]:
    """A namespace may have one TrainJob, and has it."""
    scene = watched.scene
    (quota,) = (
        each
        for each in scene.api.list("v1", "ResourceQuota", "team-vision")
        if _QUOTA in each["spec"]["hard"]
    )
    job = scene.submit("vision", 2)
    assert scene.runs(job)
    # Another scenario cordons nodes, and Kueue evicts a job there that has not started.
    assert scene.stage.until(lambda: [pod.phase for pod in job.pods] == ["Running"] * _PODS)
    scene.api.patch(quota, {"spec": {"hard": {_QUOTA: "1"}}})
    yield
    scene.api.patch(quota, {"spec": {"hard": {_QUOTA: quota["spec"]["hard"][_QUOTA]}}})


def held_queue(watched: Watched) -> Generator[None]:
    """Somebody stops a queue by hand."""
    api = watched.scene.api
    queue = api.get(f"{KUEUE}v1beta2", "ClusterQueue", "vision-gpu")
    api.patch(queue, {"spec": {"stopPolicy": "Hold"}})
    yield
    api.patch(queue, {"spec": {"stopPolicy": "None"}})


def cordoned_nodes(watched: Watched) -> Generator[None]:
    """Nodes are cordoned; Kueue then admits no job to them, though quota is free."""
    scene = watched.scene
    found = _nodes(watched)
    for node in found:
        scene.api.patch(node, _CORDON)
    job = scene.submit("nlp", 2)
    yield
    for node in found:
        scene.api.patch(node, _UNCORDON)
    assert scene.runs(job)


def _nodes(watched: Watched) -> list[Body]:
    """Return the nodes that run jobs."""
    found = watched.scene.api.list("v1", "Node")
    return [
        each for each in found if each["spec"].get("taints") and each["metadata"]["name"] != SPARE
    ]


def uncordoned_node(watched: Watched) -> Generator[None]:
    """Somebody uncordons a node that the profiles take out of use."""
    node = watched.scene.api.get("v1", "Node", SPARE)
    watched.scene.api.patch(node, _UNCORDON)
    yield
    watched.scene.api.patch(node, _CORDON)


def unreadable_certificate(_: Watched) -> Generator[None]:
    """The file with the certificate of Trainer's webhook is damaged."""
    path = _certificates("trainer") / "tls.crt"
    content = path.read_bytes()
    path.write_bytes(b"damaged")
    yield
    path.write_bytes(content)


def _certificates(name: str) -> Path:
    return cache_folder() / "run" / name / "k8s-webhook-server" / "serving-certs"


def missing_metrics(watched: Watched) -> Generator[None]:
    """The exporter of GPUs answers 404."""
    (watched.gpu.folder / "metrics").unlink()
    yield
    watched.gpu.write()


def gpu_off_the_bus(watched: Watched) -> Generator[None]:
    """The driver reports XID 79 and memory that can't be remapped; the node offers a GPU less."""
    api = watched.scene.api
    node = api.get("v1", "Node", HOST)
    watched.gpu.write(
        DCGM_FI_DEV_XID_ERRORS=79,
        DCGM_FI_DEV_ROW_REMAP_FAILURE=1,
        DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS=1,
    )
    api.patch(node, {"status": {"allocatable": {_GPU: "7"}}}, "status")
    yield
    watched.gpu.write()
    api.patch(node, {"status": {"allocatable": {_GPU: "8"}}}, "status")


def link_down(watched: Watched) -> Generator[None]:
    """The kernel shows a port without a link."""
    watched.ports[0].write(up=False)
    yield
    watched.ports[0].write()


def renamed_port(watched: Watched) -> Generator[None]:
    """The kernel gives a port another name than the hardware profile states."""
    device = watched.ports[3].folder.parents[1]
    other = device.with_name("ibp94s0")
    device.rename(other)
    yield
    other.rename(device)


def slow_link(watched: Watched) -> Generator[None]:
    """The kernel shows a port with half of its rate."""
    watched.ports[1].write(gigabits=200)
    yield
    watched.ports[1].write()


def flapping_link(watched: Watched) -> Generator[None]:
    """The kernel counts a lost link and symbol errors of a port."""
    watched.ports[2].write(downed=1, symbol_errors=90)
    yield


def lost_node(watched: Watched) -> Generator[None]:
    """A node of a running job is gone, and all others are cordoned."""
    scene = watched.scene
    job = scene.submit("vision", _PODS)
    assert scene.runs(job)
    assert scene.stage.until(lambda: sum(bool(pod.node) for pod in job.pods) == _PODS)
    name = min({pod.node for pod in job.pods} - {HOST})
    nodes = _nodes(watched)
    for node in nodes:
        if node["metadata"]["name"] != name:
            scene.api.patch(node, _CORDON)
    (body,) = (each for each in nodes if each["metadata"]["name"] == name)
    scene.api.delete(body)
    yield
    # Without its status the node would have no GPUs, and later tests of this stage miss it.
    status = {key: body["status"][key] for key in ("allocatable", "capacity")}
    scene.api.create({**as_applied(body), "status": status})
    for node in nodes:
        scene.api.patch(node, _UNCORDON)
    job.delete()


def urgent_jobs(watched: Watched) -> Generator[None]:
    """Urgent jobs take the nodes of others, again and again."""
    scene = watched.scene
    lesser = [scene.submit("vision", 2, priority_class="batch") for _ in range(2)]
    for _ in range(7):
        assert scene.runs(*lesser)
        urgent = scene.submit("vision", 4, priority_class="production")
        assert scene.runs(urgent)
        urgent.delete()
    yield
    for job in lesser:
        job.delete()


def stopped_controller(watched: Watched) -> Generator[None]:
    """JobSet hangs: it answers neither Prometheus nor the API server, which asks its webhook."""
    process = _process("jobset")
    os.kill(process, signal.SIGSTOP)
    stop = Event()
    caller = Thread(target=_call, args=(watched.scene.api, stop), daemon=True)
    caller.start()
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)
        stop.set()
        caller.join()


def _process(name: str) -> int:
    """Return the process of a controller, whose command line has the file of its settings."""
    settings = str(cache_folder() / "run" / f"{name}.json")
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if settings in (entry / "cmdline").read_text("utf-8"):
                    return int(entry.name)
    raise AssertionError(name)


def _call(api: Api, stop: Event) -> None:
    """Create JobSets until told to stop; each is refused when its webhook does not answer."""
    metadata = {"generateName": "called-", "namespace": "default"}
    body = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata}
    while not stop.wait(0.5):
        with suppress(Refused):
            api.delete(api.create({**body, "spec": {"replicatedJobs": []}}).body)


def forbidden_controller(watched: Watched) -> Generator[None]:
    """Trainer loses its role, so that it can't create what its jobs need."""
    scene = watched.scene
    binding = scene.api.get(f"{_RBAC}/v1", "ClusterRoleBinding", _TRAINER)
    scene.api.delete(binding)
    jobs = [scene.submit("vision", 2) for _ in range(2)]
    stop = Event()
    # A change of a job has it tried again at once, which Trainer's own waits would put off.
    toucher = Thread(target=_touch, args=(jobs, stop), daemon=True)
    toucher.start()
    try:
        yield
    finally:
        stop.set()
        toucher.join()
    scene.api.create(as_applied(binding))
    for job in jobs:
        job.delete()


def _touch(jobs: list[Job], stop: Event) -> None:
    number = 0
    while not stop.wait(0.5):
        number += 1
        for job in jobs:
            job.api.patch(job.body, {"metadata": {"annotations": {"touched": str(number)}}})


def refused_object(git: Git) -> Generator[None]:
    """A team's component has an object in another team's namespace, which Argo CD refuses."""
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "solver", "namespace": "team-vision"},
    }
    changes = {
        "components/solver/kustomization.yaml": component_file("0.yaml"),
        "components/solver/0.yaml": body,
        "teams/nlp.yaml": {"components": ["solver"]},
    }
    before = git.files
    git.commit(changes)
    yield
    git.publish(before)
    git.look("hard")


def unhealthy_secret(git: Git) -> Generator[None]:
    """External Secrets Operator reports that it can't read a team's secret."""
    api, namespace = git.stage.api, "team-nlp"
    body = api.list("external-secrets.io/v1", "ExternalSecret", namespace)[0]
    failed = {"type": "Ready", "status": "False", "reason": "SecretSyncedError", "message": "none"}
    api.patch(body, {"status": {"conditions": [failed]}}, "status")
    git.look()
    yield
    api.patch(body, {"status": STATUSES["ExternalSecret"]}, "status")
    git.look()


def waiting_for_hours(watched: Watched) -> Generator[None]:
    """A job waits for nodes that are cordoned, and no other job of its queue starts."""
    yield from cordoned_nodes(watched)


SCENARIOS: Mapping[Scenario, Expected] = {
    failed_job: {"TrainyardJobFailed": {"namespace": "team-vision", "team": "vision"}},
    missing_image: {
        "TrainyardPodCannotStart": {
            "namespace": "team-vision",
            "reason": "ImagePullBackOff",
            "team": "vision",
        }
    },
    full_quota: {"TrainyardTrainJobsNearQuota": {"namespace": "team-vision", "team": "vision"}},
    pod_without_a_node: {"TrainyardPodUnschedulable": {"namespace": "team-nlp", "team": "nlp"}},
    held_queue: {"TrainyardClusterQueueInactive": {"cluster_queue": "vision-gpu"}},
    cordoned_nodes: {
        "TrainyardNodeOutOfUse": {"pool": "dgx-h100", "team": "platform"},
        "TrainyardPoolBelowQuota": {"pool": "dgx-h100", "team": "platform"},
        "TrainyardQuotaIdleWhileJobsWait": {"cluster_queue": "nlp-gpu", "team": "nlp"},
    },
    uncordoned_node: {"TrainyardNodeNotCordoned": {"node": SPARE, "pool": "dgx-h100"}},
    unreadable_certificate: {"TrainyardCertificateUnreadable": {"source": "trainer"}},
    missing_metrics: {"TrainyardMetricsMissing": {"source": "dcgm-exporter"}},
    link_down: {"TrainyardRailDown": {"node": HOST, "pool": "dgx-h100", "device": "mlx5_0"}},
    renamed_port: {"TrainyardRailNamesDiffer": {"pool": "dgx-h100"}},
    slow_link: {"TrainyardRailSlow": {"node": HOST, "pool": "dgx-h100"}},
    flapping_link: {
        "TrainyardRailFlaps": {"node": HOST, "pool": "dgx-h100"},
        "TrainyardRailErrors": {"node": HOST, "pool": "dgx-h100"},
    },
}
"""Scenario -> the alerts that it makes fire, with labels that they have; all can run at once."""

ALONE: Mapping[Scenario, Expected] = {
    lost_node: {"TrainyardJobsLostNodes": {"cluster_queue": "vision-gpu", "team": "vision"}},
    urgent_jobs: {"TrainyardPreemptionsHigh": {"cluster_queue": "vision-gpu", "team": "vision"}},
    forbidden_controller: {"TrainyardControllerErrors": {"controller": "trainjob_controller"}},
    gpu_off_the_bus: {
        "TrainyardGpuXid": {"node": "n1", "gpu": "0"},
        "TrainyardGpuRowRemapFailed": {"node": "n1", "gpu": "0"},
        "TrainyardNodeLacksDevices": {"node": HOST, "pool": "dgx-h100"},
    },
    stopped_controller: {
        "TrainyardControllerDown": {"source": "jobset"},
        "TrainyardWebhookFails": {"team": "platform"},
    },
}
"""The same of scenarios of which each needs the control plane for itself."""

LONG: Mapping[Scenario, Expected] = {
    waiting_for_hours: {"TrainyardQueueAdmitsNothing": {"cluster_queue": "nlp-gpu", "team": "nlp"}}
}
"""The same of a scenario that lasts for half a day."""

_NLP = {"name": APPLICATION, "team": "nlp"}
DELIVERED: Mapping[Callable[[Git], Generator[None]], Expected] = {
    refused_object: {"TrainyardApplicationOutOfSync": _NLP},
    unhealthy_secret: {"TrainyardApplicationDegraded": {**_NLP, "health_status": "Degraded"}},
}
"""The same of scenarios under Argo CD, one after the other."""
