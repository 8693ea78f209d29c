"""Run a job of each team during other checks, and detect whether anything disturbs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from trainyard.model.manifest import Manifest
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.jobs import Job, submit
from trainyard_rehearsal.checks.sample_runs import wait_until_running
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.refusal import Refused
from trainyard_rehearsal.outcome import Failure

_OWNED = "argocd.argoproj.io/tracking-id"
_PATIENCE = 120.0


class _Identity(NamedTuple):
    """Properties of a job that change when it is recreated, edited, or tracked by Argo CD.

    Args:
        pods: uids of its pods.
    """

    uid: str
    generation: int
    is_owned: bool
    pods: tuple[str, ...]

    def difference(self, now: _Identity) -> str:
        """Return what happened to the job, by the first property that differs."""
        changes = ("was made again", "was changed", "is tracked by Argo CD", "has other pods")
        return next(
            change for change, old, new in zip(changes, self, now, strict=True) if old != new
        )


@dataclass(frozen=True, slots=True)
class WatchedJobs:
    """Jobs that run.

    Args:
        jobs: one of each team, with its sample and its first identity.
        tried: number of jobs that were submitted, refused ones included.
    """

    lab: Lab
    jobs: Mapping[str, tuple[Job, Manifest, _Identity]]
    tried: int

    def without_team(self, team: str) -> WatchedJobs:
        """Return the jobs of the other teams."""
        others = {name: watched for name, watched in self.jobs.items() if name != team}
        return replace(self, jobs=others)

    def disturbed(self) -> Iterator[Failure]:
        """Yield each job that is no longer as it was."""
        for job, manifest, before in self.jobs.values():
            try:
                now = _identity(job)
            except Refused as refused:
                yield Failure(manifest.path, str(refused), manifest.at)
                continue
            if now != before:
                words = f"the job {before.difference(now)}; {job.waiting_reason}"
                yield Failure(manifest.path, words, manifest.at)

    def delete(self) -> None:
        """Delete the jobs, and wait until they and their pods are gone."""
        for job, _, _ in self.jobs.values():
            job.delete()
        self.lab.processes.waited(
            lambda: all(job.is_gone for job, _, _ in self.jobs.values()), _PATIENCE
        )


def watch_jobs(
    lab: Lab, samples: Sequence[tuple[Sample, Manifest]], *, may_borrow: bool = False
) -> tuple[WatchedJobs, list[Failure]]:
    """Run the first sample job of each team, as a member of the team.

    A job that borrows is left out, since the owner of its nodes may reclaim them.

    Args:
        lab: with the tree applied.
        samples: the sample jobs of the tree.
        may_borrow: whether one job runs alone, on nodes of other teams, if every job borrows. No
            other job may be submitted beside it.

    Returns:
        The jobs that run, and why others do not.
    """
    jobs, failures = {}, []
    chosen = _chosen(samples, may_borrow=may_borrow)
    first = {each[0].space.team.name: each for each in reversed(chosen)}
    for team, (sample, manifest) in sorted(first.items()):
        try:
            job = submit(lab.api, manifest.body, sample.space)
        except Refused as refused:
            failures.append(Failure(manifest.path, str(refused), manifest.at))
            continue
        if problem := wait_until_running(lab, job, sample):
            failures.append(Failure(manifest.path, problem, manifest.at))
        jobs[team] = (job, manifest, _identity(job))
    return WatchedJobs(lab, jobs, len(first)), failures


def _chosen(
    samples: Sequence[tuple[Sample, Manifest]], *, may_borrow: bool
) -> Sequence[tuple[Sample, Manifest]]:
    """Return the jobs that do not borrow; if every job does and may, only the first."""
    own = [sample for sample in samples if not _borrows(sample[0])]
    return samples[:1] if may_borrow and not own else own


def _borrows(sample: Sample) -> bool:
    """Return whether a job takes more nodes than its team's nominal quota; a share never does."""
    cluster, hardware = sample.space.cluster, sample.launch.hardware.name
    pools = {pool.name for pool in cluster.pools if pool.hardware.name == hardware}
    for quota in sample.space.team.quotas:
        is_here = quota.cluster == cluster.name and quota.pool in pools
        if is_here and (quota.is_share or quota.nodes >= sample.nodes):
            return False
    return True


def _identity(job: Job) -> _Identity:
    metadata = job.body["metadata"]
    owned = _OWNED in metadata.get("annotations", {})
    pods = tuple(pod.body["metadata"]["uid"] for pod in job.pods)
    return _Identity(metadata["uid"], metadata["generation"], owned, pods)
