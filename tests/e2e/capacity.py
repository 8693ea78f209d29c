"""Rules of the family ``capacity``, seen."""

from __future__ import annotations

from functools import cache
from typing import Any

from tests.e2e.stage import CLUSTER, Stage, bad
from trainyard_rehearsal.checks.jobs import conditions
from trainyard_rehearsal.control_plane.nodes import nodes

_FULL = "insufficient unused quota"
_NEVER = "maximum capacity"
_POOL = f"clusters/{CLUSTER}.yaml"


def borrow_exceeds_lenders(stage: Stage) -> None:
    """A job of own nodes and all that may be borrowed waits for ever."""
    scene = stage.stand(
        bad("capacity/borrow-exceeds-lenders", **{"teams/nlp.yaml": {"largestJob": {"nodes": 8}}})
    )
    assert scene.waits(scene.submit("nlp", 8), f"current podset request (64) > {_NEVER} (56)")


def idle_nodes(stage: Stage) -> None:
    """All teams are full, two nodes are free, and a job of two waits."""
    scene = stage.stand(bad("capacity/idle-nodes"))
    jobs = [scene.submit(team, 4) for team in ("nlp", "vision")]
    assert all(scene.runs(job) for job in jobs)
    assert scene.waits(scene.submit("nlp", 2), _FULL)
    assert stage.until(lambda: len({pod.node for job in jobs for pod in job.pods} - {""}) == 8)
    assert len(stage.api.list("v1", "Node")) == 10


def job_larger_than_pool(stage: Stage) -> None:
    """The job waits for ever, and says so on its Workload."""
    scene = stage.stand(bad("capacity/job-larger-than-pool"))
    job = scene.submit("nlp", 9)
    assert scene.waits(job, "current podset request (72) > maximum capacity (64)")
    assert _NEVER not in str(job.body)


def job_larger_than_reach(stage: Stage) -> None:
    """The API server refuses the job that the team's profile allows: the policy knows what the team
    reaches."""
    scene = stage.stand(bad("capacity/job-larger-than-reach"))
    assert scene.denied("nlp", scene.body("nlp", 8), "this team may ask for 2 to 7 nodes")


def job_larger_than_runtime_cap(stage: Stage) -> None:
    """The API server refuses the job that the team's profile allows."""
    scene = stage.stand(bad("capacity/job-larger-than-runtime-cap"))
    assert scene.denied("nlp", scene.body("nlp", 4), "spec.trainer.numNodes is 4 (32 GPUs)")
    assert scene.denied("nlp", scene.body("nlp", 4), "this team may ask for 2 to 3 nodes")


def no_reserve(stage: Stage) -> None:
    """One node fails, and the whole job on it is evicted, as nothing takes its place."""
    scene = stage.stand(bad("capacity/no-reserve"))
    jobs = [scene.submit(team, 4) for team in ("nlp", "vision")]
    assert all(scene.runs(job) for job in jobs)
    assert stage.until(lambda: any(pod.node for pod in jobs[0].pods))
    name = next(pod.node for pod in jobs[0].pods if pod.node)
    node = next(each for each in nodes(scene.site) if each["metadata"]["name"] == name)
    stage.delete("v1", "Node", "", name)
    try:
        assert scene.is_evicted(jobs[0], f"there was no replacement for unhealthy node(s): {name}")
    finally:
        # Without it nobody ends the pods that it had.
        stage.api.apply(node)


def no_room_for_initializer(stage: Stage) -> None:
    """Ranks that are left less than nothing: Kueue makes no Workload of the job, and tells nobody
    but its log."""
    step = {"initialize": {"cpu": 210}}
    scene = stage.stand(
        bad("capacity/no-room-for-initializer", **{"runtimes/openmpi-cuda.yaml": step})
    )
    job = scene.submit("nlp", 2)
    words = "spec.podSets[1].template.spec.containers[0].resources.requests[cpu]: Invalid value:"
    assert stage.until(lambda: words in stage.log("kueue"))
    assert job.workload == {}
    assert job.pods == []


def oversubscribed(stage: Stage) -> None:
    """With a fabric a job waits beside the quota that it has; without one it is admitted, and pods
    stay Pending."""
    _oversubscribed_without_fabric(stage)
    quota = {"teams/nlp.yaml": {"quota": {CLUSTER: {"dgx-h100": {"nodes": 6}}}}}
    scene = stage.stand(bad("capacity/oversubscribed", **quota))
    jobs = [scene.submit("nlp", 4), scene.submit("vision", 4)]
    assert all(scene.runs(job) for job in jobs)
    assert scene.waits(
        scene.submit("nlp", 2),
        "doesn't allow to fit any of 1 pod(s)",
        'excluded: resource "cpu": 8',
    )


def _oversubscribed_without_fabric(stage: Stage) -> None:
    """Gangs are admitted whose pods find no node."""
    scene = stage.stand(_plain_pool())
    jobs = [scene.submit("nlp", 2) for _ in range(2)]
    assert all(scene.runs(job) for job in jobs)
    assert stage.until(
        lambda: any("Insufficient" in _told(pod.body) for job in jobs for pod in job.pods)
    )


def _plain_pool() -> dict[str, Any]:
    """Return two owned nodes of processors where one is, and a runtime for them."""
    return {
        "hardware/cpu.yaml": CPU,
        "runtimes/simulation.yaml": SIMULATION,
        _POOL: {
            "pools": {"cpu": {"nodes": 3}, "dgx-h100": None},
            "fabrics": None,
            "external": {"Partitions/ib": None},
        },
        "allocations.yaml": {CLUSTER: None},
        "teams/vision.yaml": None,
        "teams/nlp.yaml": {
            "runtimes": ["simulation"],
            "quota": {CLUSTER: {"cpu": {"nodes": 4}, "dgx-h100": None}},
        },
    }


CPU = {
    "extends": "cpu-node",
    "cpu": {"sockets": 2, "cores": 64, "threads": 128},
    "memory": "512Gi",
    "ephemeralStorage": "894Gi",
    "labels": {"ml.example.com/node-type": "cpu"},
}
SIMULATION = {
    "version": 1,
    "displayName": "Simulations",
    "docs": "https://docs.example.com/ml/simulation",
    "image": f"registry.example.com/ml/simulation@sha256:{'4d' * 32}",
    "libraries": {"openmpi": "5.0.6"},
    "hardware": ["cpu"],
    "maxNodes": 4,
}


def _told(body: dict[str, Any]) -> str:
    return "; ".join(str(each.get("message", "")) for each in conditions(body))


@cache
def quota_without_runtime(stage: Stage) -> None:
    """The team has a queue of those nodes, and no job that the policy lets into it."""
    scene = stage.stand(bad("capacity/quota-without-runtime"))
    assert any(each.body["kind"] == "LocalQueue" and each.name == "cpu" for each in scene.manifests)
    assert scene.denied("nlp", scene.body("nlp", 2, queue_name="cpu"), "queue")


def smallest_job_does_not_fit(stage: Stage) -> None:
    """A job of one node is refused; without the policy Kueue never admits its two pods."""
    scene = stage.stand(bad("capacity/smallest-job-does-not-fit"))
    assert scene.denied(
        "nlp", scene.body("nlp", 1), "must name one of the ClusterTrainingRuntimes []"
    )
    stage.forget("ValidatingAdmissionPolicyBinding", "trainjob-limits-nlp")
    job = scene.submit("nlp", 1)
    assert scene.waits(job, _NEVER)
    assert {each["name"]: each.get("count") for each in job.workload["spec"]["podSets"]} == {
        "node": 1,
        "launcher": 1,
    }


def system_share_exceeds_node(stage: Stage) -> None:
    """The API server refuses a negative quota."""
    more = {"hardware/dgx-h100.yaml": {"system": {"cpu": 232}}}
    scene = stage.stand(bad("capacity/system-share-exceeds-node", **more))
    assert "must be greater than or equal to 0" in scene.refused["ClusterQueue/nlp-gpu"], (
        scene.refused
    )


def share_without_a_place(stage: Stage) -> None:
    """Ten GPUs lie on two nodes: six more are free, and on neither node."""

    def team(name: str, gpus: int) -> dict[str, Any]:
        quota = {
            "quota": {CLUSTER: {"dgx-h100": {"nodes": None, "gpus": gpus}}},
            "largestJob": None,
        }
        return {f"teams/{name}.yaml": quota}

    audio = {
        "contact": "audio@example.com",
        "groups": {"user": ["audio"]},
        "runtimes": ["openmpi-cuda"],
    }
    audio |= team("audio", 4).popitem()[1]
    changes = {
        _POOL: {"pools": {"dgx-h100": {"nodes": 2, "reserve": 0}}},
        "allocations.yaml": {
            CLUSTER: {"ib": {"audio": {"partition": "0x0103", "addresses": "10.64.32.0/20"}}}
        },
        "runtimes/openmpi-cuda.yaml": {
            "launcher": "torchrun",
            "libraries": {"openmpi": None, "torch": "2.6.0"},
        },
        **team("nlp", 6),
        **team("vision", 6),
        "teams/audio.yaml": audio,
    }
    scene = stage.stand(changes)
    assert all(scene.runs(scene.submit(name, 1)) for name in ("vision", "audio"))
    assert scene.waits(scene.submit("nlp", 1), "doesn't allow to fit any of 1 pod(s)")


def shares_beside_whole_nodes(stage: Stage) -> None:
    """Half a node beside whole nodes: who owns as many nodes as there are waits for the one that
    the half has taken."""
    changes = {
        _POOL: {"pools": {"dgx-h100": {"nodes": 4, "reserve": 0}}},
        "teams/nlp.yaml": {
            "largestJob": None,
            "quota": {CLUSTER: {"dgx-h100": {"nodes": None, "gpus": 4}}},
        },
    }
    scene = stage.stand(changes)
    half = scene.submit("nlp", 2)
    assert scene.runs(half)
    assert scene.waits(
        scene.submit("vision", 4),
        "allows to fit only 2 out of 3 pod(s)",
        'excluded: resource "cpu": 1',
    )
