"""Jobs during an upgrade: what disturbs those that should run on or wait, and what drains them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.rehearsal.served import Served
from trainyard.generation.generate import Generation
from trainyard_rehearsal.checks import upgraded_jobs
from trainyard_rehearsal.checks.job_templates import templates_of
from trainyard_rehearsal.checks.jobs import KUEUE, TRAINER, Job
from trainyard_rehearsal.checks.upgraded_jobs import TeamJob, TeamJobs, check_ends
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.publication import sample_jobs

_TEAM = "team-nlp"
_RUNS, _WAITS = "runs", "waits"


def _path(version: str, kind: str, name: str) -> str:
    prefix = f"/apis/{version}" if "/" in version else f"/api/{version}"
    return f"{prefix}/namespaces/{_TEAM}/{kind.lower()}s/{name}"


def _pod(server: Served, uid: str) -> None:
    labels = {
        "jobset.sigs.k8s.io/jobset-name": _RUNS,
        "jobset.sigs.k8s.io/replicatedjob-name": "node",
    }
    status = {"phase": "Running"}
    place = ("v1", "Pod", f"{_RUNS}-node-0-0", _TEAM)
    server.put(*place, labels=labels, metadata={"uid": uid}, spec={"nodeName": "n"}, status=status)


def _admit(server: Served, name: str, status: str) -> None:
    owner = {"ownerReferences": [{"name": name}]}
    condition = {"type": "Admitted", "status": status, "reason": "Why", "message": "words"}
    server.put(KUEUE, "Workload", name, _TEAM, metadata=owner, status={"conditions": [condition]})


@pytest.fixture
def jobs(
    server: Served, lab: Lab, generation: Generation, monkeypatch: pytest.MonkeyPatch
) -> TeamJobs:
    """A job that runs and one that waits."""
    for name in ("_PATIENCE", "_WATCHED"):
        monkeypatch.setattr(upgraded_jobs, name, 0.1)
    samples = sample_jobs(lab.plan.site, generation.manifests["lab"], "nlp")
    template = templates_of(samples)[0]
    made = []
    for name, status in ((_RUNS, "True"), (_WAITS, "False")):
        server.put(TRAINER, "TrainJob", name, _TEAM, metadata={"uid": name})
        _admit(server, name, status)
        pods = frozenset({"first"}) if name == _RUNS else frozenset[str]()
        made.append(TeamJob(Job(lab.api, _TEAM, name), template, 2, name, pods))
    _pod(server, "first")
    return TeamJobs(lab, (made[0],), (made[1],))


def _gone(name: str) -> Callable[[Served], object]:
    return lambda server: server.objects.pop(_path(TRAINER, "TrainJob", name))


def _again(name: str) -> Callable[[Served], object]:
    path = _path(TRAINER, "TrainJob", name)
    return lambda server: server.objects[path]["metadata"].update(uid="other")


_DISTURBANCES: dict[str, tuple[Callable[[Served], object], str]] = {
    "lost": (_gone(_RUNS), "TrainJob team-nlp/runs: it is gone"),
    "made again": (_again(_RUNS), "TrainJob team-nlp/runs: it was made again"),
    "evicted": (
        lambda server: _pod(server, "second"),
        "TrainJob team-nlp/runs: 1 of its 1 pods are gone: Admitted=True Why: words",
    ),
    "waiting one lost": (_gone(_WAITS), "TrainJob team-nlp/waits: it is gone"),
    "started": (
        lambda server: _admit(server, _WAITS, "True"),
        "TrainJob team-nlp/waits: it started, and should wait",
    ),
}


def test_undisturbed_jobs_go_on(jobs: TeamJobs) -> None:
    assert jobs.gone_on() == []
    assert jobs.display == "1 running job went on, 1 waiting job waited"


@pytest.mark.parametrize("case", _DISTURBANCES)
def test_disturbance_is_reported(server: Served, jobs: TeamJobs, case: str) -> None:
    disturb, words = _DISTURBANCES[case]
    disturb(server)
    (failure,) = jobs.gone_on()
    assert f"{failure.what}: {failure.words}" == words


def test_job_that_is_not_drained_is_reported(server: Served, jobs: TeamJobs) -> None:
    """First it is admitted, then it has pods; the waiting job is as it should be."""
    (admitted,) = jobs.drained()
    assert (admitted.what, admitted.words) == ("TrainJob team-nlp/runs", "it is still admitted")
    _admit(server, _RUNS, "False")
    (left,) = jobs.drained()
    assert left.words == "it has still 1 pods"
    del server.objects[_path("v1", "Pod", f"{_RUNS}-node-0-0")]
    assert jobs.drained() == []


def test_job_that_does_not_end_is_reported(server: Served, jobs: TeamJobs) -> None:
    server.objects[_path(TRAINER, "TrainJob", _RUNS)]["status"] = {
        "conditions": [{"type": "Complete", "status": "True"}]
    }
    outcome = check_ends(jobs.lab, jobs.every)
    assert (outcome.held, outcome.tried) == (1, 2)
    (failure,) = outcome.failures
    assert failure.words == "it does not end: Admitted=False Why: words"
