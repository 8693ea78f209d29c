"""Whether finished jobs go when the CronJob's script runs as its service account, and nothing else goes with them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from trainyard.model.manifest import Manifest
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.admission import Tries, Try, remove
from trainyard_rehearsal.checks.jobs import KUEUE, TRAINER, Job, named, submit
from trainyard_rehearsal.checks.life import brought_up
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_JOBSETS = "jobset.x-k8s.io/v1alpha2"
_TEAMS = 2
_PATIENCE = 120.0
_CODES = {"completed": 0, "failed": 1}
"""Exit code of the pod that ends a job, by the job's name."""
_ALONE = "the JobSet of a TrainJob can't be deleted"


@dataclass(frozen=True, slots=True)
class _Tried:
    """A job of a team, and the sample that it was made from."""

    job: Job
    manifest: Manifest

    @property
    def display(self) -> str:
        """Namespace and name."""
        return f"{self.job.namespace}/{self.job.name}"

    @property
    def has_ended(self) -> bool:
        """Whether it was made to end."""
        return self.job.name in _CODES

    @property
    def is_there(self) -> bool:
        """Whether the TrainJob is still there."""
        return bool(self.job.api.find(TRAINER, "TrainJob", self.job.name, self.job.namespace))

    @property
    def jobset(self) -> Body:
        """Its JobSet; empty when there is none."""
        return self.job.api.find(_JOBSETS, "JobSet", self.job.name, self.job.namespace)


def check_finished(lab: Lab, samples: Sequence[tuple[Sample, Manifest]]) -> Iterator[Outcome]:
    """Run the CronJob's own script over completed, failed, running and waiting jobs of two teams.

    Args:
        lab: with the tree applied, no job running.
        samples: the jobs that the tree has to copy.
    """
    first = {sample.space.team.name: (sample, manifest) for sample, manifest in reversed(samples)}
    failures: list[Failure] = []
    with ExitStack() as stack:
        chosen = [first[team] for team in sorted(first)][:_TEAMS]
        tried = [
            each
            for sample, manifest in chosen
            for each in _jobs(lab, stack, sample, manifest, failures)
        ]
        yield _jobsets_kept(lab, [each for each in tried if each.has_ended], failures)
        if cleanup := lab.plan.site.cluster.finished_jobs:
            script = lab.api.get(
                "batch/v1", "CronJob", cleanup.name, lab.plan.site.cluster.system_namespace
            )
            failures = [
                *_cleaned(lab, script, tried, {}),
                *_cleaned(lab, script, tried, {"KEEP_SECONDS": "0"}),
            ]
            yield counted(
                "finished jobs go, others stay",
                2 * len(tried),
                failures,
                f"as account {cleanup.name}",
            )


def _jobs(
    lab: Lab, stack: ExitStack, sample: Sample, manifest: Manifest, failures: list[Failure]
) -> Iterator[_Tried]:
    """Yield jobs of a sample: two that have ended, one that runs, and one that waits before a held queue."""

    def submitted(name: str) -> _Tried:
        tried = _Tried(submit(lab.api, named(manifest.body, name), sample.space), manifest)
        stack.callback(remove, lab, tried.job)
        return tried

    last = "launcher" if sample.launch.runtime.launcher.mpi else "node"
    for name in (*_CODES, "running"):
        tried = submitted(name)
        words = brought_up(lab, tried.job, sample)
        if (
            not words
            and tried.has_ended
            and not lab.processes.waited(partial(_is_over, tried.job, last), _PATIENCE)
        ):
            words = "does not end with its pods"
        if words:
            failures.append(Failure(tried.display, words, manifest.at))
        else:
            yield tried
    metadata = {"name": sample.launch.hardware.node_class, "namespace": sample.space.namespace}
    queue = {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": metadata}
    lab.api.patch(queue, {"spec": {"stopPolicy": "Hold"}})
    stack.callback(lab.api.patch, queue, {"spec": {"stopPolicy": "None"}})
    yield submitted("waiting")


def _is_over(job: Job, last: str) -> bool:
    """End the pods that decide over a job, those of its restarts too; tell whether it is over."""
    job.end(last, _CODES[job.name])
    return job.is_over


def _jobsets_kept(lab: Lab, tried: Sequence[_Tried], failures: Sequence[Failure]) -> Outcome:
    """Delete the JobSets of finished jobs as a platform operator and as an administrator.

    Args:
        lab: where they are.
        tried: the finished jobs.
        failures: jobs that did not get as far.
    """
    groups = lab.plan.site.cluster.operators[:1]
    people = [
        lab.api,
        *(lab.api.acting(f"somebody@{each}", [each, "system:authenticated"]) for each in groups),
    ]
    tries = [
        Try(
            f"JobSet {each.display}",
            partial(api.delete, each.jobset, dry_run=True),
            each.manifest.at,
            _ALONE,
        )
        for each in tried
        for api in people
    ]
    made = Tries()
    made.make(tries)
    made.tried += len(failures)
    made.failures += failures
    return made.outcome("no JobSet goes without its job")


def _cleaned(
    lab: Lab, script: Body, tried: Sequence[_Tried], changes: dict[str, str]
) -> Iterator[Failure]:
    """Run the script, with another environment; what has ended is expected to go where nothing is kept."""
    (container,) = script["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    environment = {each["name"]: each["value"] for each in container["env"]} | changes
    done = subprocess.run(
        container["command"],
        env={
            **environment,
            "HOME": str(lab.kubeconfig.parent),
            "KUBECONFIG": str(_kubeconfig(lab, script)),
            "PATH": os.pathsep.join([str(lab.built.programs["kubectl"].parent), os.defpath]),
        },
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    told = (
        f"the script of CronJob {script['metadata']['name']} with {environment['KEEP_SECONDS']} s"
    )
    if done.returncode:
        yield Failure(
            told, done.stderr.strip() or f"exit code {done.returncode}", lab.plan.site.cluster.at
        )
    for each in tried:
        goes = bool(changes) and each.has_ended
        if goes:
            lab.processes.waited(partial(_is_gone, each), _PATIENCE)
        # What stays is looked at once.
        if goes == each.is_there or (goes and each.jobset):
            yield Failure(
                f"{each.display} after {told}", "stays" if goes else "is deleted", each.manifest.at
            )


def _is_gone(each: _Tried) -> bool:
    return not each.is_there and not each.jobset


def _kubeconfig(lab: Lab, script: Body) -> Path:
    """Write the kubeconfig of the script's service account: the administrator's, who acts as it."""
    name, namespace = script["metadata"]["name"], script["metadata"]["namespace"]
    config = json.loads(lab.kubeconfig.read_text(encoding="utf-8"))
    groups = [
        "system:serviceaccounts",
        f"system:serviceaccounts:{namespace}",
        "system:authenticated",
    ]
    config["users"][0]["user"] |= {
        "as": f"system:serviceaccount:{namespace}:{name}",
        "as-groups": groups,
    }
    path = lab.kubeconfig.with_name(f"{name}.kubeconfig")
    path.write_text(json.dumps(config), encoding="utf-8")
    return path
