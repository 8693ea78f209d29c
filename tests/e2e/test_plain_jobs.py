"""Jobs that name a runtime, a command and a number of nodes, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.setup import NEW, OLD, over
from tests.e2e.stage import Scene, Stage
from tests.rules.cores import on_cores
from trainyard.render.site import render_site
from trainyard_rehearsal.checks.jobs import TRAINER, Job
from trainyard_rehearsal.control_plane.api import Body

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize("stage", [OLD, NEW], indirect=True, ids=[OLD.name, NEW.name]),
]

QUEUE = "kueue.x-k8s.io/queue-name"
NLP, RUNTIME = "teams/nlp.yaml", "runtimes/openmpi-cuda.yaml"
BOTH: dict[str, Any] = {
    "hardware/cpu.yaml": {
        "extends": "cpu-node",
        "cpu": {"sockets": 2, "cores": 64, "threads": 128},
        "memory": "512Gi",
        "ephemeralStorage": "894Gi",
    },
    "clusters/prod-east.yaml": {"pools": {"cpu": {"nodes": 3}}},
    RUNTIME: {"hardware": ["cpu", "dgx-h100"]},
    NLP: {"quota": {"prod-east": {"cpu": {"nodes": 2}}}},
}
"""A team with nodes of both classes."""


def share(gpus: int, **runtime: Any) -> dict[str, Any]:
    """Return a team with GPUs of a node, whose runtime has some other fields."""
    shared = {"nodes": None, "gpus": gpus}
    return {
        NLP: {"quota": {"prod-east": {"dgx-h100": shared}}, "largestJob": None},
        RUNTIME: runtime,
    }


def plain(name: str, runtime: str, nodes: int, **trainer: Any) -> Body:
    """Return a job as a person writes it."""
    return {
        "apiVersion": TRAINER,
        "kind": "TrainJob",
        "metadata": {"name": name, "namespace": "team-nlp"},
        "spec": {
            "runtimeRef": {"name": runtime},
            "trainer": {"command": ["mpirun", "hostname"], "numNodes": nodes, **trainer},
        },
    }


def runtimes(scene: Scene) -> list[str]:
    """Return the runtimes of the team, in the order of the profile."""
    return [launch.name for launch in scene.space("team-nlp").launches]


def ends(scene: Scene, job: Job) -> bool:
    """Return whether a job runs, and ends with its launcher."""
    assert scene.runs(job)
    assert scene.stage.until(
        lambda: any(pod.role == "launcher" and pod.phase == "Running" for pod in job.pods)
    )
    job.finish("launcher")
    return scene.stage.until(lambda: job.has_finished)


def test_a_job_without_a_label_runs(stage: Stage) -> None:
    """Kueue names the queue, and counts the runtime's own requests."""
    scene = stage.deploy({})
    (runtime,) = runtimes(scene)

    job = scene.create("nlp", plain("plain", runtime, 2))

    assert job.body["metadata"]["labels"][QUEUE] == "default"
    assert ends(scene, job)
    pods = job.workload["spec"]["podSets"]
    requests = [each["template"]["spec"]["containers"][0]["resources"]["requests"] for each in pods]
    assert [each["nvidia.com/gpu"] for each in requests] == ["8", "8"]


@pytest.mark.parametrize("limits_all", [False, True])
def test_a_class_is_needed_only_where_each_has_a_deadline(stage: Stage, limits_all: bool) -> None:
    """A member may name a class without a deadline, so a job without a class evades nothing."""
    batch = {"value": 500, "deadline": "2d"}
    production = {"value": 1000, "deadline": "7d"} if limits_all else 1000
    changes = {
        "clusters/prod-east.yaml": {"priorities": {"batch": batch, "production": production}}
    }
    scene = stage.deploy(changes)
    (runtime,) = runtimes(scene)
    job = plain("plain", runtime, 2)

    if limits_all:
        assert scene.denied("nlp", job, "the job needs the label kueue.x-k8s.io/priority-class")
    else:
        assert scene.runs(scene.create("nlp", job))


def test_jobs_of_both_labels_share_the_quota(stage: Stage) -> None:
    """The queue `default` is another name of `gpu`, not another quota."""
    scene = stage.deploy({})
    (runtime,) = runtimes(scene)

    assert scene.runs(scene.submit("nlp", 4, queue_name="gpu"))
    second = scene.create("nlp", plain("second", runtime, 2))
    assert scene.waits(second, "insufficient unused quota")


def test_the_queue_is_added_beside_running_and_waiting_jobs(stage: Stage) -> None:
    """A tree of an older Trainyard has only queues with the names of classes."""
    before = stage.deploy({NLP: {"defaultQueue": "none"}})
    (runtime,) = runtimes(before)
    running, waiting = (before.submit("nlp", 4, queue_name="gpu") for _ in range(2))
    assert before.runs(running)
    refusal = 'must be one of [gpu], not ""'
    assert before.denied("nlp", plain("early", runtime, 2), refusal)

    for each in render_site(stage.moved({})):
        if each.kind.name == "LocalQueue" or each.name.startswith("trainjob-limits-"):
            stage.api.apply(each.body)

    late = before.create("nlp", plain("late", runtime, 2))
    assert before.waits(late, "insufficient unused quota")
    assert running.is_admitted
    running.delete()
    assert before.runs(waiting)


def test_a_label_is_needed_for_nodes_of_the_other_class(stage: Stage) -> None:
    """Kueue writes the same queue into every job, whatever its runtime."""
    scene = stage.deploy(BOTH)
    cpu, gpu = runtimes(scene)
    job = plain("other", cpu, 2, numProcPerNode=1)

    refusal = 'must be one of [cpu], not "default", which Kueue writes into a job without the label'
    assert scene.denied("nlp", job, refusal)
    labelled = {**job, "metadata": {**job["metadata"], "labels": {QUEUE: "cpu"}}}
    assert scene.runs(scene.create("nlp", labelled))
    assert scene.runs(scene.create("nlp", plain("usual", gpu, 2)))

    scene = stage.deploy(over(BOTH, {NLP: {"defaultQueue": "none"}}))
    assert scene.denied("nlp", plain("unnamed", gpu, 2), 'must be one of [gpu], not ""')
    scene = stage.deploy(over(BOTH, {NLP: {"defaultQueue": "cpu"}}))
    unlabelled = scene.create("nlp", job)
    assert scene.runs(unlabelled)
    assert scene.flavors(unlabelled) == {"cpu"}


FURTHER = over(BOTH, {NLP: {"queues": {"gpu": ["vision-queue", "old.queue"]}}})


def named(name: str, runtime: str, queue: str) -> Body:
    """Return a job as a person writes it who knows a queue of the site."""
    job = plain(name, runtime, 2)
    return {**job, "metadata": {**job["metadata"], "labels": {QUEUE: queue}}}


def test_jobs_may_name_further_queues_of_the_class(stage: Stage) -> None:
    """Manifests of a site name its own queues. Kueue counts their jobs in the team's quota."""
    scene = stage.deploy(FURTHER)
    cpu, gpu = runtimes(scene)

    refusal = 'must be one of [gpu default old.queue vision-queue], not "vision"'
    assert scene.denied("nlp", named("unknown", gpu, "vision"), refusal)
    assert scene.denied("nlp", named("other", cpu, "vision-queue"), "must be one of [cpu], not")
    first, second = (
        scene.create("nlp", named(f"{queue[:3]}-job", gpu, queue))
        for queue in ("vision-queue", "old.queue")
    )
    assert scene.runs(first)
    assert scene.runs(second)
    assert scene.flavors(first) == {"dgx-h100"}
    third = scene.create("nlp", named("third", gpu, "vision-queue"))
    assert scene.waits(third, "insufficient unused quota")


def test_a_site_s_local_queue_makes_room_for_the_tree_s(stage: Stage) -> None:
    """At the cut-over it is deleted and made anew: what runs goes on, what waits goes over."""
    scene = stage.deploy(FURTHER)
    _, gpu = runtimes(scene)
    bodies = {(each.kind.name, each.name): each.body for each in scene.manifests}
    own, queue = bodies["LocalQueue", "vision-queue"], bodies["ClusterQueue", "nlp-gpu"]
    site = {**queue, "metadata": {"name": "site"}}
    held = {**site, "spec": {**site["spec"], "stopPolicy": "Hold"}}
    stage.api.apply(site)
    stage.api.delete(own)
    stage.api.apply({**own, "spec": {"clusterQueue": "site"}})

    jobs = [scene.create("nlp", named(name, gpu, "vision-queue")) for name in ("a", "b", "c")]
    assert stage.until(lambda: sum(job.is_admitted for job in jobs) == 2)
    runs = [job for job in jobs if job.is_admitted]
    (waits,) = (job for job in jobs if job not in runs)
    stage.api.apply(held)
    stage.api.delete(own)
    stage.api.apply(own)

    assert scene.runs(waits)
    assert _queue_of(waits) == "nlp-gpu"
    assert [_queue_of(job) for job in runs] == ["site", "site"]
    for job in jobs:
        job.delete()
    stage.api.delete(held)


def _queue_of(job: Job) -> str:
    """Return the ClusterQueue that admitted a job."""
    return str(job.workload["status"]["admission"]["clusterQueue"])


def test_resources_as_the_sdk_sends_them(stage: Stage) -> None:
    """Whole numbers with a fraction are accepted; a part of a node is refused, with what to do."""
    scene = stage.deploy({})
    (grant,) = scene.space("team-nlp").grants
    amounts = {name: float(n) for name, n in grant.launch.per_node.items() if "/" in name}
    whole = {
        **amounts,
        "cpu": float(grant.launch.per_node["cpu"] // 1000),
        "memory": "1952Gi",
        "ephemeral-storage": "1500Gi",
    }
    job = plain("sdk", grant.launch.name, 2)

    def asking(asked: Body) -> Body:
        resources = {"resourcesPerNode": {"requests": asked, "limits": asked}}
        return over(job, {"spec": {"trainer": resources}})  # type: ignore[no-any-return]

    assert scene.denied("nlp", asking({"nvidia.com/gpu": 8.0}), "leave it out")
    assert scene.denied("nlp", asking({"nvidia.com/gpu": 2.0, "memory": "32Gi"}), "with a share")
    assert scene.runs(scene.create("nlp", asking(whole)))


def test_mpi_in_one_pod(stage: Stage) -> None:
    """A runtime of one node has a launcher alone: 2 GPUs, 2 ranks, and no sshd."""
    scene = stage.deploy(share(2, maxNodes=1))
    (runtime,) = runtimes(scene)
    job = scene.create("nlp", plain("one", runtime, 1))

    assert ends(scene, job)
    (pods,) = job.workload["spec"]["podSets"]
    requests = pods["template"]["spec"]["containers"][0]["resources"]["requests"]
    assert (pods["name"], pods.get("count", 1), requests["nvidia.com/gpu"]) == ("launcher", 1, "2")
    hosts = scene.api.get("v1", "ConfigMap", f"{job.name}-mpi-hostfile", "team-nlp")["data"]
    assert hosts["hostfile"].split() == [f"{job.name}-launcher-0-0.{job.name}", "slots=2"]
    assert scene.denied("nlp", plain("two", runtime, 2), "numNodes is 2")


def test_shares_of_cores_run_beside_each_other(stage: Stage) -> None:
    """Two teams have one node without GPUs; a second job of one of them waits for its first."""
    scene = stage.deploy(on_cores(48, 12))
    (name,) = runtimes(scene)
    first, other = scene.submit("nlp", 2), scene.submit("vision", 2)

    assert name == "openmpi-cuda-v1-cpu-24core"
    assert scene.runs(first)
    assert scene.runs(other)
    assert stage.until(
        lambda: [pod.node for job in (first, other) for pod in job.pods] == ["cpu-001"] * 4
    )
    pods = first.workload["spec"]["podSets"]
    requests = [each["template"]["spec"]["containers"][0]["resources"]["requests"] for each in pods]
    assert [each["cpu"] for each in requests] == ["48", "48"]
    assert scene.waits(scene.submit("nlp", 2), "insufficient unused quota")


def test_share_without_room_holds_its_quota(stage: Stage) -> None:
    """Nodes without a fabric have no topology: the job is admitted, and its pod stays Pending. The
    rule `capacity/share-without-a-place` rejects these shares."""
    changes = over(on_cores(48, 36, nodes=2), {RUNTIME: {"maxNodes": 1}})
    quota = {"quota": {"prod-east": {"cpu": {"cores": 36}}}}
    audio = {
        "contact": "a@example.com",
        "groups": {"user": ["audio"]},
        "runtimes": ["openmpi-cuda"],
    }
    scene = stage.deploy({**changes, "teams/audio.yaml": {**audio, **quota}})
    for name in ("vision", "audio"):
        assert scene.runs(scene.submit(name, 1))

    job = scene.submit("nlp", 1)
    assert stage.until(lambda: job.is_admitted and len(job.pods) == 1)
    assert "Insufficient cpu" in _why_pending(stage, job)


def _why_pending(stage: Stage, job: Job) -> str:
    """Return the scheduler's message about the only pod of a job."""

    def message() -> str:
        (pod,) = job.pods
        conditions = pod.body.get("status", {}).get("conditions", ())
        return next((str(each.get("message", "")) for each in conditions), "")

    assert stage.until(lambda: bool(message()))
    return message()


def test_intel_mpi_in_one_pod_on_a_share_of_cores(stage: Stage) -> None:
    """All ranks are in the launcher's pod, one on each core."""
    intel = {"launcher": "intel-mpi", "libraries": {"openmpi": None, "intel-mpi": "2021.13"}}
    one = {RUNTIME: {**intel, "maxNodes": 1, "hardware": ["cpu"]}}
    scene = stage.deploy(over(on_cores(48, 12), one))
    (runtime,) = runtimes(scene)
    job = scene.create("nlp", plain("one", runtime, 1))

    assert ends(scene, job)
    (pods,) = job.workload["spec"]["podSets"]
    requests = pods["template"]["spec"]["containers"][0]["resources"]["requests"]
    assert (pods["name"], requests["cpu"]) == ("launcher", "96")
    hosts = scene.api.get("v1", "ConfigMap", f"{job.name}-mpi-hostfile", "team-nlp")["data"]
    assert hosts["hostfile"].split() == [f"{job.name}-launcher-0-0.{job.name}", "slots=48"]


def test_the_runtime_of_one_pod_is_named_for_two_gpus(stage: Stage) -> None:
    """The seeds ask for 2 GPUs and 32Gi a node: in a share of two, only one pod has both."""
    one = {
        "version": 1,
        "displayName": "One pod",
        "image": f"registry.example.com/ml/one@sha256:{'5d' * 32}",
        "maxNodes": 1,
        "libraries": {"openmpi": "4.1.6", "cuda": "12.6"},
        "hardware": ["dgx-h100"],
    }
    both = {"runtimes/one.yaml": one, NLP: {"runtimes": ["openmpi-cuda", "one"]}}
    scene = stage.deploy(over(share(2), both))
    whole, halves = sorted(runtimes(scene))
    asked = {"nvidia.com/gpu": 2, "memory": "32Gi"}
    resources = {"requests": asked, "limits": asked}

    refusal = f"take for [nvidia.com/gpu=2] a node one of [{whole}]"
    job = plain("seeds", halves, 2, resourcesPerNode=resources)
    assert scene.denied("nlp", job, refusal)
    job = plain("seeds", whole, 1, resourcesPerNode=resources)
    assert scene.denied("nlp", job, "leave it out (resources_per_node in the SDK), and each node")
    assert scene.runs(scene.create("nlp", plain("seeds", whole, 1)))


def test_a_part_of_a_node_is_refused_with_the_runtime_that_has_it(stage: Stage) -> None:
    """The seeds ask for 2 GPUs and 32Gi; in a share of four, MPI's pods have two each."""
    torch = {
        "version": 1,
        "displayName": "PyTorch",
        "image": f"registry.example.com/ml/pytorch@sha256:{'5d' * 32}",
        "libraries": {"torch": "2.6.0", "cuda": "12.6"},
        "launcher": "torchrun",
        "hardware": ["dgx-h100"],
        "maxNodes": 4,
    }
    both = {"runtimes/torch.yaml": torch, NLP: {"runtimes": ["openmpi-cuda", "torch"]}}
    scene = stage.deploy(over(share(4), both))
    halves, whole = runtimes(scene)

    def asking(gpus: int) -> Body:
        asked = {"nvidia.com/gpu": gpus, "memory": "32Gi"}
        return plain("part", halves, 2, resourcesPerNode={"requests": asked, "limits": asked})

    assert scene.denied("nlp", asking(2), "leave it out (resources_per_node in the SDK), and each")
    assert scene.denied("nlp", asking(4), f"take for [nvidia.com/gpu=4] a node one of [{whole}]")
    assert scene.denied("nlp", asking(1), "for a team with a share")
