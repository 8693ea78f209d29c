"""Reports about a clean-up, with fake controllers and a fake script."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.rehearsal.served import Served
from trainyard.generation.generate import Generation
from trainyard.programs import Completed
from trainyard_rehearsal.checks import finished
from trainyard_rehearsal.checks.finished import check_finished, side_by_side
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Outcome
from trainyard_rehearsal.publication import sample_jobs

pytestmark = pytest.mark.thorough

_JOBS = "/apis/trainer.kubeflow.org/v1alpha1/namespaces"
_JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces"
_ALONE = (
    "the JobSet of a TrainJob can't be deleted, since Trainer makes it again: delete the TrainJob"
)


@dataclass
class Controllers:
    """Trainer, JobSet and the garbage collector in one.

    Args:
        guards: whether JobSets are kept from deletion.
        endless: name of the jobs that do not end.
    """

    server: Served
    guards: bool = True
    endless: str = ""

    def react(self, _: str, body: dict[str, Any]) -> None:
        """Make the JobSet of a job, and end the job if it is to end."""
        if body.get("kind") != "TrainJob":
            return
        namespace, name = body["metadata"]["namespace"], body["metadata"]["name"]
        ends = {"completed": "Complete", "failed": "Failed"}
        over = "Running" if name == self.endless else ends.get(name, "Running")
        body["status"] = {"conditions": [{"type": over, "status": "True"}]}
        self.server.put("jobset.x-k8s.io/v1alpha2", "JobSet", name, namespace)
        if self.guards:
            self.server.refused["DELETE", f"{_JOBSETS}/{namespace}/jobsets/{name}"] = (403, _ALONE)


@dataclass
class Script:
    """A script that deletes jobs by their names; it fails with an exit code.

    Args:
        ran: environment of each run.
    """

    server: Served
    goes: dict[str, set[str]]
    fails: int = 0

    def __post_init__(self) -> None:
        self.ran: list[dict[str, str]] = []

    def run(self, _: list[str], environment: dict[str, str], **__: Any) -> Completed:
        """Delete the jobs that the test expects to go with this retention time."""
        self.ran.append(environment)
        doomed = self.goes.get(environment["KEEP_SECONDS"], set())
        for path in [each for each in self.server.objects if each.rpartition("/")[2] in doomed]:
            del self.server.objects[path]
        return Completed(self.fails, "", "no such file" if self.fails else "")


Run = Callable[..., tuple[dict[str, Outcome], Script]]


@pytest.fixture
def run(lab: Lab, server: Served, generation: Generation, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs the check with a script that does what a test says."""
    site = lab.plan.site
    for manifest in generation.manifests["lab"]:
        if manifest.body["kind"] == "CronJob":
            server.objects[
                f"/apis/batch/v1/namespaces/{manifest.namespace}/cronjobs/{manifest.name}"
            ] = manifest.body
    for queue in (queue for tenant in site.tenants for queue in tenant.queues):
        server.put("kueue.x-k8s.io/v1beta2", "ClusterQueue", queue.name)
    lab.kubeconfig.write_text(
        json.dumps({"users": [{"name": "admin", "user": {"token": "t"}}]}), encoding="utf-8"
    )
    monkeypatch.setattr(finished, "_PATIENCE", 0)

    def call(
        goes: dict[str, set[str]],
        *,
        fails: int = 0,
        words: str = "",
        cleanup: bool = True,
        **controllers: Any,
    ) -> tuple[dict[str, Outcome], Script]:
        script = Script(server, goes, fails)
        server.react = Controllers(server, **controllers).react
        monkeypatch.setattr(finished, "wait_until_running", lambda *_: words)
        monkeypatch.setattr("trainyard_rehearsal.checks.finished.programs.run", script.run)
        cluster = site.cluster if cleanup else replace(site.cluster, finished_jobs=None)
        plan = replace(lab.plan, site=replace(site, cluster=cluster))
        found = check_finished(
            replace(lab, plan=plan), sample_jobs(site, generation.manifests["lab"], "")
        )
        return {outcome.promise: outcome for outcome in found}, script

    return call


_KEPT = "deleting a JobSet alone refused"
_GOOD = {"0": {"completed", "failed"}}


def _failures(outcome: Outcome) -> list[tuple[str, str]]:
    return [(failure.what, failure.words) for failure in outcome.failures]


def test_good_clean_up_has_no_failure(run: Run, server: Served) -> None:
    """The script runs as its account, first with its own retention time, then with none."""
    outcomes, script = run(_GOOD)

    assert {promise: (each.held, each.tried, each.fine) for promise, each in outcomes.items()} == {
        _KEPT: (8, 8, True),
        "only finished jobs are deleted": (16, 16, True),
    }
    assert [each["KEEP_SECONDS"] for each in script.ran] == ["259200", "0"]
    (user,) = json.loads(Path(script.ran[0]["KUBECONFIG"]).read_text(encoding="utf-8"))["users"]
    assert user["user"]["as"] == "system:serviceaccount:trainyard-system:finished-jobs"
    policies = {
        body["spec"]["stopPolicy"]
        for body in server.objects.values()
        if body.get("spec", {}).get("stopPolicy")
    }
    assert policies == {"None"}
    assert not [path for path in server.objects if path.startswith(_JOBS)]


@pytest.mark.parametrize(
    ("goes", "expected"),
    [
        ({}, {"completed": "stays", "failed": "stays"}),
        ({"0": {"completed", "failed", "running"}}, {"running": "is deleted"}),
        ({"0": {"completed", "failed", "waiting"}}, {"waiting": "is deleted"}),
    ],
)
def test_wrongly_kept_and_wrongly_deleted_jobs_are_reported(
    run: Run, goes: dict[str, set[str]], expected: dict[str, str]
) -> None:
    """Each job is reported by its namespace and name."""
    outcomes, _ = run(goes)

    found = _failures(outcomes["only finished jobs are deleted"])
    assert {(what.partition("/")[2].partition(" ")[0], words) for what, words in found} == set(
        expected.items()
    )
    assert len(found) == 2 * len(expected)


def test_early_deletion_is_reported(run: Run) -> None:
    """With its own retention time the script must delete nothing."""
    outcomes, _ = run({"259200": {"failed"}} | _GOOD)

    assert {words for _, words in _failures(outcomes["only finished jobs are deleted"])} == {
        "is deleted"
    }


def test_failing_script_and_job_that_does_not_run_are_reported(run: Run) -> None:
    """The messages are those of kubectl and of the controller."""
    outcomes, _ = run(_GOOD, fails=1, words="not admitted: no quota")

    assert {words for _, words in _failures(outcomes["only finished jobs are deleted"])} == {
        "no such file"
    }
    assert {words for _, words in _failures(outcomes[_KEPT])} == {"not admitted: no quota"}


def test_job_that_does_not_end_is_reported(run: Run) -> None:
    """The other jobs are still tried."""
    outcomes, _ = run(_GOOD, endless="failed")

    assert {words for _, words in _failures(outcomes[_KEPT])} == {"does not end with its pods"}
    assert outcomes["only finished jobs are deleted"].fine


def test_deletable_jobsets_are_reported(run: Run) -> None:
    """Without the policy each deletion is accepted. Without a clean-up no script runs."""
    outcomes, script = run({}, cleanup=False, guards=False)

    assert set(outcomes) == {_KEPT}
    assert {words for _, words in _failures(outcomes[_KEPT])} >= {"let through"}
    assert not script.ran


@pytest.mark.parametrize(("nodes", "tried"), [(1, ["robotics", "speech"]), (0, ["robotics"])])
def test_jobs_of_two_teams_run_only_where_nodes_hold_both(
    lab: Lab, generation: Generation, nodes: int, tried: list[str]
) -> None:
    """On the smallest platforms a job of one team takes every node, borrowed ones included."""
    site = lab.plan.site
    samples = [
        each
        for each in sample_jobs(site, generation.manifests["lab"], "")
        if each[0].space.team.name in ("robotics", "speech")
    ]
    pools = tuple(replace(pool, nodes=nodes) for pool in site.cluster.pools)
    chosen = side_by_side(replace(site.cluster, pools=pools), samples)

    assert [sample.space.team.name for sample, _ in chosen] == tried
