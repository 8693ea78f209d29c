"""Jobs that run during other checks, and what disturbs them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.rehearsal.served import Served
from tests.rules.cases import platform_of
from trainyard.generation.generate import Generation
from trainyard.model.space import Space
from trainyard.render.site import render_site
from trainyard_rehearsal.checks.jobs import TRAINER, Job
from trainyard_rehearsal.checks.watched_jobs import WatchedJobs, _identity, watch_jobs
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.refusal import Refused
from trainyard_rehearsal.publication import sample_jobs

JOB = f"/apis/{TRAINER}/namespaces/team-nlp/trainjobs/nlp-train"


def pod(server: Served, uid: str) -> None:
    labels = {
        "jobset.sigs.k8s.io/jobset-name": "nlp-train",
        "jobset.sigs.k8s.io/replicatedjob-name": "node",
    }
    server.put(
        *("v1", "Pod", "nlp-train-node-0-0", "team-nlp"),
        labels=labels,
        metadata={"uid": uid},
        spec={"nodeName": "n"},
        status={"phase": "Running"},
    )


@pytest.fixture
def watched(server: Served, lab: Lab, generation: Generation) -> WatchedJobs:
    """Return a job with a pod, watched from now on."""
    server.put(
        TRAINER, "TrainJob", "nlp-train", "team-nlp", metadata={"uid": "one", "generation": 3}
    )
    pod(server, "first")
    job = Job(lab.api, "team-nlp", "nlp-train")
    (_, manifest), *_ = sample_jobs(lab.plan.site, generation.manifests["lab"], "nlp")
    return WatchedJobs(lab, {"nlp": (job, manifest, _identity(job))}, 1)


def put(field: str, value: object) -> Callable[[Served], None]:
    return lambda server: server.objects[JOB]["metadata"].update({field: value})


DISTURBANCES: dict[str, tuple[Callable[[Served], object], str]] = {
    "made again": (put("uid", "two"), "the job was made again; "),
    "suspended and resumed": (put("generation", 5), "the job was changed; "),
    "taken for Argo CD's own": (
        put("annotations", {"argocd.argoproj.io/tracking-id": "x"}),
        "the job is tracked by Argo CD; ",
    ),
    "its pod made again": (lambda server: pod(server, "second"), "the job has other pods; "),
    "deleted": (lambda server: server.objects.pop(JOB), "not found"),
}


@pytest.mark.parametrize("case", DISTURBANCES)
def test_disturbance_is_reported(server: Served, watched: WatchedJobs, case: str) -> None:
    disturb, words = DISTURBANCES[case]
    disturb(server)
    (failure,) = watched.disturbed()
    assert words in failure.words


def test_undisturbed_job_is_not_reported(server: Served, watched: WatchedJobs) -> None:
    server.objects[JOB]["status"] = {"conditions": []}
    assert list(watched.disturbed()) == []


def test_job_of_an_excluded_team_is_not_reported(server: Served, watched: WatchedJobs) -> None:
    put("uid", "two")(server)
    assert list(watched.without_team("nlp").disturbed()) == []


@pytest.mark.parametrize(
    ("nodes", "asked", "teams"),
    [
        (1, ("", True), ["vision"]),
        (2, ("", True), ["nlp", "vision"]),
        (4, ("nlp", True), ["nlp"]),
        (1, ("nlp", True), ["nlp"]),
        (1, ("nlp", False), []),
    ],
)
def test_job_that_borrows_is_watched_only_where_no_other_job_is(
    lab: Lab,
    monkeypatch: pytest.MonkeyPatch,
    nodes: int,
    asked: tuple[str, bool],
    teams: list[str],
) -> None:
    """Owners may reclaim its nodes. A job of Open MPI takes at least two nodes."""
    submitted = []

    def submit(_api: object, _body: object, space: Space) -> Job:
        submitted.append(space.team.name)
        raise Refused(403, "no")

    monkeypatch.setattr("trainyard_rehearsal.checks.watched_jobs.submit", submit)
    quota = {"prod-east": {"dgx-h100": {"nodes": nodes, "borrow": 4}}}
    (site,) = platform_of({"teams/nlp.yaml": {"quota": quota}}).sites
    of, may_borrow = asked
    found, failures = watch_jobs(
        lab, sample_jobs(site, render_site(site), of), may_borrow=may_borrow
    )

    assert submitted == teams
    assert (found.jobs, found.tried, len(failures)) == ({}, len(teams), len(teams))
