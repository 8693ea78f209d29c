"""Scenarios of the family ``capacity``."""

from __future__ import annotations

from functools import cache
from typing import Any

from tests.e2e.setup import CLUSTER, bad
from tests.e2e.stage import Stage
from trainyard_rehearsal.control_plane.nodes import nodes

_FULL = "insufficient unused quota"
_NEVER = "maximum capacity"
_POOL = f"clusters/{CLUSTER}.yaml"


def borrow_exceeds_lenders(stage: Stage) -> None:
    """A job of all own and all borrowed nodes stays pending permanently."""
    scene = stage.deploy(
        bad("capacity/borrow-exceeds-lenders", **{"teams/nlp.yaml": {"largestJob": {"nodes": 8}}})
    )
    assert scene.waits(scene.submit("nlp", 8), f"current podset request (64) > {_NEVER} (56)")


def idle_nodes(stage: Stage) -> None:
    """All quota is used, two nodes are idle, and a job of two nodes stays pending."""
    scene = stage.deploy(bad("capacity/idle-nodes"))
    jobs = [scene.submit(team, 4) for team in ("nlp", "vision")]
    assert scene.runs(*jobs)
    assert scene.waits(scene.submit("nlp", 2), _FULL)
    assert stage.until(lambda: len({pod.node for job in jobs for pod in job.pods} - {""}) == 8)
    assert len(stage.api.list("v1", "Node")) == 10


def job_larger_than_pool(stage: Stage) -> None:
    """The job stays pending permanently; only its Workload shows the reason."""
    scene = stage.deploy(bad("capacity/job-larger-than-pool"))
    job = scene.submit("nlp", 9)
    assert scene.waits(job, "current podset request (72) > maximum capacity (64)")
    assert _NEVER not in str(job.body)


def job_exceeds_quota(stage: Stage) -> None:
    """The API server refuses a job that the profile allows: the policy limits it to the quota."""
    scene = stage.deploy(bad("capacity/job-exceeds-quota"))
    assert scene.denied("nlp", scene.body("nlp", 8), "this team may ask for 2 to 7 nodes")


def job_larger_than_runtime_cap(stage: Stage) -> None:
    """The API server refuses a job that the profile allows."""
    scene = stage.deploy(bad("capacity/job-larger-than-runtime-cap"))
    assert scene.denied("nlp", scene.body("nlp", 4), "spec.trainer.numNodes is 4 (32 GPUs)")
    assert scene.denied("nlp", scene.body("nlp", 4), "this team may ask for 2 to 3 nodes")


def maintenance_exceeds_reserve(stage: Stage) -> None:
    """Two nodes are cordoned, and a team's job waits although its quota is free."""
    names = ["dgx-h100-008", "dgx-h100-009"]  # of simulated nodes
    out = [{"nodes": names, "until": "2026-12-01", "reason": "NVLink replacement"}]
    pool = {_POOL: {"pools": {"dgx-h100": {"maintenance": out}}}}
    scene = stage.deploy(bad("capacity/maintenance-exceeds-reserve", **pool))
    assert scene.runs(scene.submit("nlp", 4))
    assert scene.waits(scene.submit("vision", 4), "allows to fit only")


def no_reserve(stage: Stage) -> None:
    """A node fails, no node replaces it, and its whole job is evicted."""
    scene = stage.deploy(bad("capacity/no-reserve"))
    jobs = [scene.submit(team, 4) for team in ("nlp", "vision")]
    assert scene.runs(*jobs)
    assert stage.until(lambda: any(pod.node for pod in jobs[0].pods))
    name = next(pod.node for pod in jobs[0].pods if pod.node)
    by_name = {each["metadata"]["name"]: each for each in nodes(scene.site)}
    stage.delete("v1", "Node", "", name)
    try:
        assert scene.is_evicted(jobs[0], f"there was no replacement for unhealthy node(s): {name}")
    finally:
        # Without the node no kubelet ends the pods that ran on it.
        stage.api.apply(by_name[name])


def no_room_for_initializer(stage: Stage) -> None:
    """A negative request of a rank: Kueue creates no Workload, and only its log shows why."""
    step = {"initialize": {"cpu": 210}}
    scene = stage.deploy(
        bad("capacity/no-room-for-initializer", **{"runtimes/openmpi-cuda.yaml": step})
    )
    job = scene.submit("nlp", 2)
    words = "spec.podSets[1].template.spec.containers[0].resources.requests[cpu]: Invalid value:"
    assert stage.until(lambda: words in stage.log("kueue"))
    assert job.workload == {}
    assert job.pods == []


def oversubscribed(stage: Stage) -> None:
    """A job with quota stays pending on a fabric; without a fabric its pods stay Pending."""
    _oversubscribed_without_fabric(stage)
    quota = {"teams/nlp.yaml": {"quota": {CLUSTER: {"dgx-h100": {"nodes": 6}}}}}
    scene = stage.deploy(bad("capacity/oversubscribed", **quota))
    jobs = [scene.submit("nlp", 4), scene.submit("vision", 4)]
    assert scene.runs(*jobs)
    assert scene.waits(
        scene.submit("nlp", 2),
        "doesn't allow to fit any of 1 pod(s)",
        'excluded: resource "cpu": 8',
    )


def _oversubscribed_without_fabric(stage: Stage) -> None:
    """Jobs are admitted whose pods fit no node."""
    scene = stage.deploy(_plain_pool())
    jobs = [scene.submit("nlp", 2) for _ in range(2)]
    assert scene.runs(*jobs)
    assert scene.pods_show("Insufficient", *jobs)


def _plain_pool() -> dict[str, Any]:
    """Return changes: a pool of three CPU nodes, four of them owned, and a runtime for them."""
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


@cache
def quota_without_runtime(stage: Stage) -> None:
    """The team has a queue for the nodes, and the policy lets no job into it."""
    scene = stage.deploy(bad("capacity/quota-without-runtime"))
    assert any(each.body["kind"] == "LocalQueue" and each.name == "cpu" for each in scene.manifests)
    assert scene.denied("nlp", scene.body("nlp", 2, queue_name="cpu"), "queue")


def smallest_job_does_not_fit(stage: Stage) -> None:
    """A job of one node is refused; without the policy Kueue does not admit its two pods."""
    scene = stage.deploy(bad("capacity/smallest-job-does-not-fit"))
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
    scene = stage.deploy(bad("capacity/system-share-exceeds-node", **more))
    assert "must be greater than or equal to 0" in scene.refused["ClusterQueue/nlp-gpu"], (
        scene.refused
    )


def share_without_a_place(stage: Stage) -> None:
    """Six GPUs are free on two nodes together, and on neither node alone."""
    audio = {
        "contact": "audio@example.com",
        "groups": {"user": ["audio"]},
        "runtimes": ["openmpi-cuda"],
    }
    changes = {
        _POOL: {"pools": {"dgx-h100": {"nodes": 2, "reserve": 0}}},
        "allocations.yaml": {
            CLUSTER: {"ib": {"audio": {"partition": "0x0103", "addresses": "10.64.32.0/20"}}}
        },
        "runtimes/openmpi-cuda.yaml": {
            "launcher": "torchrun",
            "libraries": {"openmpi": None, "torch": "2.6.0"},
        },
        "teams/nlp.yaml": _shares(6),
        "teams/vision.yaml": _shares(6),
        "teams/audio.yaml": {**audio, **_shares(4)},
    }
    scene = stage.deploy(changes)
    for name in ("vision", "audio"):
        assert scene.runs(scene.submit(name, 1))
    assert scene.waits(scene.submit("nlp", 1), "doesn't allow to fit any of 1 pod(s)")


def _shares(gpus: int) -> dict[str, Any]:
    """Return a team's quota in GPUs instead of nodes."""
    return {
        "quota": {CLUSTER: {"dgx-h100": {"nodes": None, "gpus": gpus}}},
        "largestJob": None,
    }


def shares_beside_whole_nodes(stage: Stage) -> None:
    """A job that needs every node of its quota waits for the node that a share occupies."""
    changes = {
        _POOL: {"pools": {"dgx-h100": {"nodes": 4, "reserve": 0}}},
        "teams/nlp.yaml": _shares(4),
    }
    scene = stage.deploy(changes)
    half = scene.submit("nlp", 2)
    assert scene.runs(half)
    assert scene.waits(
        scene.submit("vision", 4),
        "allows to fit only 2 out of 3 pod(s)",
        'excluded: resource "cpu": 1',
    )
