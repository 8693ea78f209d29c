"""Scenarios of the family ``scheduling``."""

from __future__ import annotations

from functools import partial

from tests.e2e.objects import KUEUE, messages
from tests.e2e.setup import bad
from tests.e2e.stage import Scene, Stage
from trainyard_rehearsal.checks.jobs import Job, is_true
from trainyard_rehearsal.control_plane.fakes import settle
from trainyard_rehearsal.control_plane.refusal import Refused

_FULL = "insufficient unused quota"


def borrow_without_cohort(stage: Stage) -> None:
    """Kueue refuses a limit without a cohort, and a job stays pending beside idle nodes."""
    scene = stage.deploy(bad("scheduling/borrow-without-cohort"))
    assert "must be nil when cohort is empty" in _limited(scene, "borrowingLimit")
    assert scene.runs(scene.submit("nlp", 4))
    assert scene.waits(scene.submit("nlp", 2), _FULL)


def lend_without_cohort(stage: Stage) -> None:
    """Kueue refuses a limit without a cohort, and another team can't borrow idle nodes."""
    vision = {"quota": {"prod-east": {"dgx-h100": {"borrow": 4}}}}
    scene = stage.deploy(bad("scheduling/lend-without-cohort", **{"teams/vision.yaml": vision}))
    assert "must be nil when cohort is empty" in _limited(scene, "lendingLimit")
    assert scene.runs(scene.submit("vision", 4))
    assert scene.waits(scene.submit("vision", 2), _FULL)


def _limited(scene: Scene, limit: str) -> str:
    """Return how Kueue refuses a limit on a queue without a cohort; empty if it does not."""
    body = next(
        each.body
        for each in scene.manifests
        if each.body["kind"] == "ClusterQueue" and "nlp" in each.name
    )
    assert "cohortName" not in body["spec"]
    (group,) = body["spec"]["resourceGroups"]
    (flavor,) = group["flavors"]
    limited = {**flavor, "resources": [{**each, limit: "1"} for each in flavor["resources"]]}
    spec = {**body["spec"], "resourceGroups": [{**group, "flavors": [limited]}]}
    try:
        scene.api.apply({**body, "spec": spec})
    except Refused as refused:
        return str(refused)
    return ""


def lend_more_than_owned(stage: Stage) -> None:
    """Kueue refuses the queue."""
    scene = stage.deploy(bad("scheduling/lend-more-than-owned"))
    assert "must be less than or equal to the nominalQuota" in scene.refused["ClusterQueue/nlp-gpu"]


def cohort_cycle(stage: Stage) -> None:
    """No queue of the cycle admits a job."""
    scene = stage.deploy(bad("scheduling/cohort-cycle"))
    jobs = [scene.submit("nlp", 2), scene.submit("vision", 2)]
    assert all(scene.waits(job, "is inactive") for job in jobs)


def equal_preference(stage: Stage) -> None:
    """The first job takes the pool whose name comes first."""
    scene = stage.deploy(bad("scheduling/equal-preference"))
    job = scene.submit("nlp", 2)
    assert scene.runs(job)
    assert scene.flavors(job) == {"dgx-h100"}


def equal_priorities(stage: Stage) -> None:
    """A job of one class waits for a job of the other class."""
    scene = stage.deploy(bad("scheduling/equal-priorities"))
    batch = scene.submit("nlp", 4, priority_class="batch")
    assert scene.runs(batch)
    assert scene.waits(scene.submit("nlp", 4, priority_class="interactive"), _FULL)
    assert batch.is_admitted


def too_many_resources_in_queue(stage: Stage) -> None:
    """Kueue can't write the status of the LocalQueue, which stays inactive."""
    scene = stage.deploy(bad("scheduling/too-many-resources-in-queue"))
    queues = [
        each.name
        for each in scene.manifests
        if each.kind.name == "LocalQueue" and each.namespace == "team-nlp"
    ]

    def is_active(kind: str, name: str, namespace: str = "") -> bool:
        return is_true(scene.api.get(f"{KUEUE}v1beta2", kind, name, namespace), "Active")

    assert stage.until(lambda: "Too many: 21: must have at most 16 items" in stage.log("kueue"))
    assert stage.until(lambda: is_active("ClusterQueue", "nlp-gpu"))
    assert queues == ["default", "gpu"]
    is_open = partial(is_active, "LocalQueue", namespace="team-nlp")
    assert not stage.until(lambda: any(map(is_open, queues)), 10)


def hostname_as_level(stage: Stage) -> None:
    """Kueue refuses the Topology."""
    scene = stage.deploy(bad("scheduling/hostname-as-level"))
    assert "must be unique" in scene.refused["Topology/ib"], scene.refused


def job_on_borrowed_nodes(stage: Stage) -> None:
    """An owner needs one node back, and the whole job on its own and borrowed nodes is evicted."""
    scene = stage.deploy(bad("scheduling/job-on-borrowed-nodes"))
    job = scene.submit("nlp", 5)
    assert scene.runs(job)
    owner = scene.submit("vision", 4)
    assert scene.is_evicted(job, "due to reclamation within the cohort")
    assert scene.runs(owner)


def made_up_topology_label(stage: Stage) -> None:
    """Kueue fits no job on nodes without the label."""
    scene = stage.deploy(bad("scheduling/made-up-topology-label"))
    for node in stage.api.list("v1", "Node"):
        stage.api.patch(node, {"metadata": {"labels": {"topology.kubernetes.io/rack": None}}})
    assert scene.waits(
        scene.submit("nlp", 2), "no topology domains at level: topology.kubernetes.io/rack"
    )


def mixed_topology(stage: Stage) -> None:
    """A job that names a level does not fit the pool without a topology, which has free nodes."""
    scene = stage.deploy(bad("scheduling/mixed-topology"))
    assert scene.runs(scene.submit("nlp", 4))
    assert scene.waits(
        scene.submit("nlp", 2), 'Flavor "l40s" does not support TopologyAwareScheduling'
    )


def no_priorities(stage: Stage) -> None:
    """An urgent job waits for all others; when an owner reclaims nodes, the newest is evicted."""
    borrowing = {"quota": {"prod-east": {"dgx-h100": {"nodes": 4, "borrow": 4}}}}
    scene = stage.deploy(bad("scheduling/no-priorities", **{"teams/nlp.yaml": borrowing}))
    older = scene.submit("nlp", 4)
    assert scene.runs(older)
    stage.pass_a_second()
    newer = scene.submit("nlp", 4)
    assert scene.runs(newer)
    assert scene.waits(scene.submit("nlp", 2), _FULL)
    scene.submit("vision", 4)
    assert scene.is_evicted(newer, "due to reclamation within the cohort")
    assert older.is_admitted


def no_return_after_steps(stage: Stage) -> None:
    """A job that is preempted after its steps stays pending permanently, beside free nodes."""
    job = evicted_after_steps(stage)
    words = "status.admission.podSetAssignments[0].topologyAssignment.slices: Required value"
    assert stage.until(lambda: words in stage.log("kueue"))
    assert not job.is_admitted


def evicted_after_steps(stage: Stage) -> Job:
    """Return a job that was preempted after its steps, whose nodes are free again."""
    scene = stage.deploy(bad("scheduling/no-return-after-steps"))
    settle(scene.lab)
    job = scene.submit("nlp", 4, priority_class="batch")
    assert scene.runs(job)
    assert stage.until(lambda: _ended(job, "dataset-initializer"))
    urgent = scene.submit("nlp", 4, priority_class="production")
    assert scene.runs(urgent)
    assert scene.is_evicted(job, "Preempted to accommodate a workload")
    urgent.delete()
    return job


def _ended(job: Job, step: str) -> bool:
    """End a step; return whether Kueue counts its pods as reclaimable."""
    job.finish(step)
    return bool((job.workload.get("status") or {}).get("reclaimablePods"))


def top_priority_for_all(stage: Stage) -> None:
    """When an owner reclaims nodes, the job of a low priority is evicted, though it is older."""
    scene = stage.deploy(bad("scheduling/top-priority-for-all"))
    modest = scene.submit("nlp", 4, priority_class="batch")
    assert scene.runs(modest)
    pushing = scene.submit("nlp", 4, priority_class="production")
    assert scene.runs(pushing)
    scene.submit("vision", 4, priority_class="production")
    assert scene.is_evicted(modest, "due to reclamation within the cohort")
    assert pushing.is_admitted


def queue_stopped_in_part(stage: Stage) -> None:
    """A job that fits on the open pool waits too."""
    scene = stage.deploy(bad("scheduling/queue-stopped-in-part"))
    assert scene.waits(scene.submit("nlp", 2), "is inactive")


def queue_without_trainjob(stage: Stage) -> None:
    """No job is admitted, with a queue or without one."""
    scene = stage.deploy(bad("scheduling/queue-without-trainjob"))
    job = scene.body("nlp", 4)
    assert scene.denied("nlp", job, 'must be one of [gpu default], not ""')
    queued = {
        **job,
        "metadata": {**job["metadata"], "labels": {"kueue.x-k8s.io/queue-name": "gpu"}},
    }
    assert scene.denied("nlp", queued, "Kueue has not suspended this job")


def uneven_flavor_labels(stage: Stage) -> None:
    """Without a fabric, Kueue admits a job to the other pool, where none of its pods fits."""
    rule = "scheduling/uneven-flavor-labels"
    scene = stage.deploy(bad(rule))
    job = _for_the_other(scene, 2)
    assert scene.runs(job)
    assert scene.flavors(job) == {"dgx-h100"}

    pools = {"dgx-h100": {"fabric": None}, "dgx-h200": {"fabric": None}}
    plain = {"pools": pools, "fabrics": None, "external": {"Partitions/ib": None}}
    scene = stage.deploy(
        bad(rule, **{"clusters/prod-east.yaml": plain, "allocations.yaml": {"prod-east": None}})
    )
    job = _for_the_other(scene, 2)
    assert scene.runs(job)
    assert scene.flavors(job) == {"dgx-h200"}
    words = "didn't match Pod's node affinity/selector"
    assert scene.pods_show(words, job), [messages(each.body) for each in job.pods]


def _for_the_other(scene: Scene, nodes: int) -> Job:
    """Submit a job for the nodes that the queue does not prefer."""
    body = scene.body("nlp", nodes)
    runtime = next(launch.name for launch in scene.site.launches if launch.nodes == "dgx-h100")
    body["spec"] = {**body["spec"], "runtimeRef": {**body["spec"]["runtimeRef"], "name": runtime}}
    return scene.create("nlp", body)


def weight_without_effect(stage: Stage) -> None:
    """A cohort of weight ten reclaims nothing that a cohort of weight one borrowed before."""
    cohorts = {
        "company": {},
        "research": {"weight": 10, "parent": "company"},
        "later": {"parent": "company"},
    }
    scene = stage.deploy(
        bad(
            "scheduling/weight-without-effect",
            **{
                "clusters/prod-east.yaml": {"cohorts": cohorts},
                "allocations.yaml": {"prod-east": {"ib": {"audio": _AUDIO}}},
                "teams/audio.yaml": {"cohort": "company", **_team(4, 0)},
                "teams/vision.yaml": {"cohort": "later", **_team(2, 4)},
                "teams/nlp.yaml": _team(2, 4),
            },
        )
    )
    first = scene.submit("vision", 6)
    assert scene.runs(first)
    assert scene.runs(scene.submit("nlp", 2))
    assert scene.waits(scene.submit("nlp", 2), _FULL)
    assert first.is_admitted


def fair_sharing_in_a_cohort_tree(stage: Stage) -> None:
    """Of two equal borrowers, the one lower in the tree loses its job, whatever its priority."""
    assert _who_pays(stage, "company") == {"audio"}
    assert _who_pays(stage, "research") == {"nlp"}


def _who_pays(stage: Stage, cohort: str) -> set[str]:
    """Return the team whose job is evicted when an owner reclaims nodes from nlp and audio.

    Args:
        stage: the control plane.
        cohort: of team nlp, whose jobs have a higher priority.
    """
    scene = stage.deploy(
        {
            "clusters/prod-east.yaml": {
                "cohorts": {"company": {}, "research": {"parent": "company"}}
            },
            "allocations.yaml": {"prod-east": {"ib": {"audio": _AUDIO}}},
            "teams/vision.yaml": {"cohort": "company"},
            "teams/audio.yaml": {"cohort": "company", **_team(2, 2)},
            "teams/nlp.yaml": {"cohort": cohort, **_team(2, 2)},
        }
    )
    teams = {"nlp": "production", "audio": "batch"}
    jobs = [
        (team, scene.submit(team, 2, priority_class=each))
        for team, each in teams.items()
        for _ in range(2)
    ]
    assert scene.runs(*(job for _, job in jobs))
    assert scene.runs(scene.submit("vision", 2))
    return {team for team, job in jobs if not job.is_admitted}


_AUDIO = {"partition": "0x0103", "addresses": "10.64.32.0/20"}


def _team(nodes: int, borrow: int) -> dict[str, object]:
    return {
        "contact": "somebody@example.com",
        "groups": {"user": ["some"]},
        "runtimes": ["openmpi-cuda"],
        "largestJob": {"nodes": nodes + borrow},
        "quota": {"prod-east": {"dgx-h100": {"nodes": nodes, "borrow": borrow}}},
    }


def default_queue_without_nodes(stage: Stage) -> None:
    """A job without a queue's label takes nodes with GPUs."""
    scene = stage.deploy(bad("scheduling/default-queue-without-nodes"))
    body = scene.body("nlp", 2)
    body["metadata"]["labels"].pop(f"{KUEUE}queue-name", None)
    job = scene.create("nlp", body)
    assert scene.runs(job)
    assert job.workload["status"]["admission"]["clusterQueue"] == "nlp-gpu"
    assert scene.flavors(job) == {"dgx-h100"}
