"""Check that the clean-up CronJob deletes finished jobs only, and JobSets only with their job."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from trainyard import programs
from trainyard.model.cluster import Cluster
from trainyard.model.manifest import Manifest
from trainyard.model.people import acting_as
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.job_batch import delete_and_wait
from trainyard_rehearsal.checks.jobs import KUEUE, TRAINER, Job, submit, with_name
from trainyard_rehearsal.checks.kubeconfigs import kubeconfig
from trainyard_rehearsal.checks.request_cases import RequestCase, RequestTally
from trainyard_rehearsal.checks.sample_runs import wait_until_running
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_JOBSETS = "jobset.x-k8s.io/v1alpha2"
_TEAMS = 2
_PATIENCE = 120.0
_EXIT_CODES = {"completed": 0, "failed": 1}
"""Exit code of the pod that ends a job, by the job's name."""
_REFUSAL = "the JobSet of a TrainJob can't be deleted"


@dataclass(frozen=True, slots=True)
class _TeamJob:
    """A job of a team, and the sample that it was made from."""

    job: Job
    manifest: Manifest

    @property
    def display(self) -> str:
        """The namespace and name, for messages."""
        return f"{self.job.namespace}/{self.job.name}"

    @property
    def has_ended(self) -> bool:
        """Return whether the job was made to end."""
        return self.job.name in _EXIT_CODES

    @property
    def exists(self) -> bool:
        """Return whether the TrainJob exists."""
        return bool(self.job.api.find(TRAINER, "TrainJob", self.job.name, self.job.namespace))

    @property
    def jobset(self) -> Body:
        """The JobSet; empty when there is none."""
        return self.job.api.find(_JOBSETS, "JobSet", self.job.name, self.job.namespace)

    @property
    def is_gone(self) -> bool:
        """Return whether neither the TrainJob nor its JobSet exists."""
        return not self.exists and not self.jobset


def check_finished(lab: Lab, samples: Sequence[tuple[Sample, Manifest]]) -> Iterator[Outcome]:
    """Run the CronJob's script with completed, failed, running and waiting jobs of some teams.

    Args:
        lab: with the tree applied, no job running.
        samples: the sample jobs of the tree.
    """
    cluster = lab.plan.site.cluster
    failures: list[Failure] = []
    with ExitStack() as stack:
        jobs = list(_jobs(lab, stack, side_by_side(cluster, samples), failures))
        yield _check_jobsets(lab, [job for job in jobs if job.has_ended], failures)
        if cleanup := cluster.finished_jobs:
            yield _check_script(lab, cleanup.name, jobs)


def side_by_side(
    cluster: Cluster, samples: Sequence[tuple[Sample, Manifest]]
) -> list[tuple[Sample, Manifest]]:
    """Return a job of each of two teams, or of one team if the nodes do not hold both at a time."""
    first = {sample.space.team.name: (sample, manifest) for sample, manifest in reversed(samples)}
    chosen = [first[team] for team in sorted(first)[:_TEAMS]]
    for pool in cluster.pools:
        jobs = [job for job, _ in chosen if job.launch.hardware.name == pool.hardware.name]
        if sum(job.nodes * job.launch.part for job in jobs) > pool.promised:
            return chosen[:1]
    return chosen


def _jobs(
    lab: Lab,
    stack: ExitStack,
    samples: Sequence[tuple[Sample, Manifest]],
    failures: list[Failure],
) -> Iterator[_TeamJob]:
    """Yield jobs of each sample: two ended ones, a running one, and one that waits in a held queue.

    Args:
        lab: with the tree applied.
        stack: deletes the jobs afterwards.
        samples: one of each team, with its object; their jobs start together.
        failures: gets the jobs that do not run or end.
    """

    def submitted(name: str, sample: Sample, manifest: Manifest) -> _TeamJob:
        job = _TeamJob(submit(lab.api, with_name(manifest.body, name), sample.space), manifest)
        stack.callback(delete_and_wait, lab, job.job)
        return job

    for name in (*_EXIT_CODES, "running"):
        for job, (sample, _) in [(submitted(name, *each), each) for each in samples]:
            if problem := _bring_to_state(lab, job, sample):
                failures.append(Failure(job.display, problem, job.manifest.at))
            else:
                yield job
    for sample, manifest in samples:
        _hold(lab, stack, sample)
        yield submitted("waiting", sample, manifest)


def _hold(lab: Lab, stack: ExitStack, sample: Sample) -> None:
    """Hold the ClusterQueue of a sample, and release it afterwards.

    Kueue writes no LocalQueue into a job without a label while its LocalQueue `default` is held.
    """
    own = sample.launch.hardware.node_class
    name = next(each.name for each in sample.space.queues if each.node_class == own)
    queue = {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": name}}
    lab.api.patch(queue, {"spec": {"stopPolicy": "Hold"}})
    stack.callback(lab.api.patch, queue, {"spec": {"stopPolicy": "None"}})


def _bring_to_state(lab: Lab, job: _TeamJob, sample: Sample) -> str:
    """Wait until a job runs, and end it if it is one of those to end; return what goes wrong."""
    if problem := wait_until_running(lab, job.job, sample):
        return problem
    last = "launcher" if sample.launch.runtime.launcher.mpi else "node"
    if job.has_ended and not lab.processes.waited(partial(_end, job.job, last), _PATIENCE):
        return "does not end with its pods"
    return ""


def _end(job: Job, last: str) -> bool:
    """Finish the pods that decide a job's result, restarted ones too; return whether it ended."""
    job.finish(last, _EXIT_CODES[job.name])
    return job.has_finished


def _check_jobsets(lab: Lab, jobs: Sequence[_TeamJob], failures: Sequence[Failure]) -> Outcome:
    """Try to delete the JobSets of finished jobs as a platform operator and as an administrator.

    Args:
        lab: that has the jobs.
        jobs: the finished jobs.
        failures: jobs that did not finish.
    """
    tally = RequestTally()
    tally.send(_jobset_deletions(lab, jobs))
    tally.tried += len(failures)
    tally.failures += failures
    return tally.outcome("deleting a JobSet alone refused")


def _jobset_deletions(lab: Lab, jobs: Sequence[_TeamJob]) -> Iterator[RequestCase]:
    operators = lab.plan.site.cluster.operators[:1]
    users = [_operator(lab, group) for group in operators]
    for job in jobs:
        for api in (lab.api, *users):
            request = partial(api.delete, job.jobset, dry_run=True)
            yield RequestCase(f"JobSet {job.display}", request, job.manifest.at, _REFUSAL)


def _operator(lab: Lab, group: str) -> Api:
    return lab.api.acting(*acting_as(group))


def _check_script(lab: Lab, name: str, jobs: Sequence[_TeamJob]) -> Outcome:
    """Run the CronJob's script with its own retention time, then with none."""
    cluster = lab.plan.site.cluster
    script = lab.api.get("batch/v1", "CronJob", name, cluster.system_namespace)
    failures = [
        *_clean_up(lab, script, jobs, {}),
        *_clean_up(lab, script, jobs, {"KEEP_SECONDS": "0"}),
    ]
    remark = f"as account {name}"
    return counted("only finished jobs are deleted", 2 * len(jobs), failures, remark)


def _clean_up(
    lab: Lab, script: Body, jobs: Sequence[_TeamJob], changes: dict[str, str]
) -> Iterator[Failure]:
    """Run the script with changed variables; with them, it must delete the ended jobs only."""
    (container,) = script["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    variables = {each["name"]: each["value"] for each in container["env"]} | changes
    done = _run(lab, script, container["command"], variables)
    name, seconds = script["metadata"]["name"], variables["KEEP_SECONDS"]
    description = f"the script of CronJob {name} with {seconds} s"
    if done.code:
        words = done.stderr.strip() or f"exit code {done.code}"
        yield Failure(description, words, lab.plan.site.cluster.at)
    for job in jobs:
        if problem := _deletion_problem(lab, job, is_deleted=bool(changes) and job.has_ended):
            yield Failure(f"{job.display} after {description}", problem, job.manifest.at)


def _run(
    lab: Lab, script: Body, command: list[str], variables: dict[str, str]
) -> programs.Completed:
    """Run a command with the kubectl of the rehearsal, as the script's service account."""
    own = {
        "HOME": str(lab.kubeconfig.parent),
        "KUBECONFIG": str(_kubeconfig(lab, script)),
        "PATH": os.pathsep.join([str(lab.built.programs["kubectl"].parent), os.defpath]),
    }
    return programs.run(
        command,
        environment={**variables, **own},
        timeout=programs.AN_HOUR,
        accept=programs.ANY_CODE,
    )


def _deletion_problem(lab: Lab, job: _TeamJob, *, is_deleted: bool) -> str:
    """Return what is wrong after a clean-up; a deletion may take time, the rest is seen at once."""
    if not is_deleted:
        return "" if job.exists else "is deleted"
    lab.processes.waited(lambda: job.is_gone, _PATIENCE)
    return "stays" if job.exists or job.jobset else ""


def _kubeconfig(lab: Lab, script: Body) -> Path:
    """Write a kubeconfig in which the administrator impersonates the script's service account."""
    name, namespace = script["metadata"]["name"], script["metadata"]["namespace"]
    groups = [
        "system:serviceaccounts",
        f"system:serviceaccounts:{namespace}",
        "system:authenticated",
    ]
    return kubeconfig(lab, name, f"system:serviceaccount:{namespace}:{name}", groups)
