"""A JobSet goes with its TrainJob and not before it: Trainer makes it again, of a job that failed
too."""

from __future__ import annotations

from functools import partial

import pytest

from tests.e2e.stage import CLUSTER, NEW, OLD, Scene, Stage
from trainyard_rehearsal.checks.admission import refusal
from trainyard_rehearsal.checks.finished import check_finished
from trainyard_rehearsal.checks.jobs import Job, is_true
from trainyard_rehearsal.checks.life import brought_up
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.fakes import settle
from trainyard_rehearsal.publication import sample_jobs

_JOBSETS = "jobset.x-k8s.io/v1alpha2"
_POLICY = "trainyard-no-orphans"
_REFUSED = "the JobSet of a TrainJob can't be deleted"
_OPERATORS = ("ml-platform", "system:authenticated")

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize(
        "ground", [NEW, OLD], indirect=True, ids=[NEW.name, OLD.name], scope="session"
    ),
]


def _jobset(scene: Scene, job: Job) -> Body:
    """Return the JobSet of a job; empty while it has none."""
    return scene.api.find(_JOBSETS, "JobSet", job.name, job.namespace)


def _failed(stage: Stage) -> tuple[Scene, Job]:
    """Return a job that failed."""
    scene = stage.stand({})
    job = scene.submit("nlp", 2)
    sample = next(
        each for each in scene.space("team-nlp").samples if each.launch.runtime.launcher.mpi
    )
    assert not brought_up(scene.lab, job, sample)
    job.end("launcher", code=1)
    assert stage.until(lambda: is_true(job.body, "Failed"))
    return scene, job


def test_failed_job_without_its_jobset_starts_again(ground: Stage) -> None:
    """Without the policy, Trainer makes the JobSet of a job that failed again as often as it
    goes."""
    scene, job = _failed(ground)
    ground.forget("ValidatingAdmissionPolicyBinding", _POLICY)
    seen = set()
    for _ in range(3):
        jobset = _jobset(scene, job)
        seen.add(jobset["metadata"]["uid"])
        assert ground.until(lambda: not _refused(scene, jobset))  # noqa: B023
        assert ground.until(
            lambda: _jobset(scene, job).get("metadata", {}).get("uid", "") not in {"", *seen}
        )


def test_jobset_of_a_job_is_not_deleted_alone(ground: Stage) -> None:
    """A platform operator's deletion is refused, and so is an administrator's; the TrainJob's
    deletion takes all."""
    scene, job = _failed(ground)
    first = _jobset(scene, job)

    assert ground.until(lambda: _REFUSED in _refused(scene, first))
    assert _REFUSED in str(refusal(partial(scene.api.delete, first)))
    assert _jobset(scene, job)["metadata"]["uid"] == first["metadata"]["uid"]

    job.delete()
    assert ground.until(lambda: job.is_gone and not _jobset(scene, job))


def test_jobset_without_a_job_can_be_deleted(ground: Stage) -> None:
    """Platform operators clean up after a TrainJob that left its JobSet behind."""
    scene, job = _failed(ground)
    body = _jobset(scene, job)
    metadata = {"name": "left-behind", "namespace": job.namespace}
    scene.api.create({**body, "metadata": metadata, "spec": {**body["spec"], "suspend": True}})

    assert not _refused(scene, {**body, "metadata": metadata})


def test_cleanup_takes_finished_jobs_and_no_others(ground: Stage) -> None:
    """The CronJob's script, with kubectl of the release, deletes what ended longer ago than it
    keeps jobs."""
    cleanup = {"keep": "3d", "image": f"registry.example.com/platform/kubectl@sha256:{'1' * 64}"}
    scene = ground.stand({f"clusters/{CLUSTER}.yaml": {"finishedJobs": cleanup}})
    assert not scene.refused
    settle(scene.lab)

    outcomes = list(check_finished(scene.lab, sample_jobs(scene.site, scene.manifests, "")))

    assert [(outcome.promise, outcome.tried) for outcome in outcomes] == [
        ("no JobSet goes without its job", 8),
        ("finished jobs go, others stay", 16),
    ]
    assert not [failure for outcome in outcomes for failure in outcome.failures]


def _refused(scene: Scene, body: Body) -> str:
    """Delete an object as a platform operator; return the API server's words when it refuses."""
    operator = scene.api.acting("somebody@ml-platform", _OPERATORS)
    return str(refusal(partial(operator.delete, body)) or "")
