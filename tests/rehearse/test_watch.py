"""Whether a job that was touched is told from one that was left alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from generator.pipeline import Generation
from generator.publication import sample_jobs
from generator.rehearse.jobs import TRAINER, Job
from generator.rehearse.lab import Lab
from generator.rehearse.watch import Watch, _identity
from tests.rehearse.served import Served

JOB = f"/apis/{TRAINER}/namespaces/team-nlp/trainjobs/nlp-train"


def pod(server: Served, uid: str) -> None:
    labels = {"jobset.sigs.k8s.io/jobset-name": "nlp-train", "jobset.sigs.k8s.io/replicatedjob-name": "node"}
    server.put(
        *("v1", "Pod", "nlp-train-node-0-0", "team-nlp"),
        labels=labels,
        metadata={"uid": uid},
        spec={"nodeName": "n"},
        status={"phase": "Running"},
    )


@pytest.fixture
def watched(server: Served, lab: Lab, generation: Generation) -> Watch:
    """A job with a pod, watched from now on."""
    server.put(TRAINER, "TrainJob", "nlp-train", "team-nlp", metadata={"uid": "one", "generation": 3})
    pod(server, "first")
    job = Job(lab.api, "team-nlp", "nlp-train")
    (_, manifest), *_ = sample_jobs(lab.plan.site, generation.manifests["lab"], "nlp")
    return Watch(lab, {"nlp": (job, manifest, _identity(job))})


def put(field: str, value: object) -> Callable[[Served], None]:
    return lambda server: server.objects[JOB]["metadata"].update({field: value})


DISTURBANCES: dict[str, tuple[Callable[[Served], object], str]] = {
    "made again": (put("uid", "two"), "uid='two'"),
    "suspended and resumed": (put("generation", 5), "generation=5"),
    "taken for Argo CD's own": (put("annotations", {"argocd.argoproj.io/tracking-id": "x"}), "is_owned=True"),
    "its pod made again": (lambda server: pod(server, "second"), "pods=('second',)"),
    "deleted": (lambda server: server.objects.pop(JOB), "not found"),
}


@pytest.mark.parametrize("case", DISTURBANCES)
def test_a_disturbance_is_told(server: Served, watched: Watch, case: str) -> None:
    disturb, words = DISTURBANCES[case]
    disturb(server)
    (failure,) = watched.disturbed()
    assert words in failure.words.rpartition("became")[2]


def test_a_job_left_alone_is_not_told(server: Served, watched: Watch) -> None:
    server.objects[JOB]["status"] = {"conditions": []}
    assert list(watched.disturbed()) == []


def test_a_job_that_may_be_disturbed_is_left_out(server: Served, watched: Watch) -> None:
    put("uid", "two")(server)
    assert list(watched.without("nlp").disturbed()) == []
