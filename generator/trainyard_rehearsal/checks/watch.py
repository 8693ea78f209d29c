"""Jobs that run while something else happens, and whether anybody disturbed them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from trainyard.model.manifest import Manifest
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.jobs import Job, submit
from trainyard_rehearsal.checks.life import brought_up
from trainyard_rehearsal.control_plane.api import Refused
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Failure

_OWNED = "argocd.argoproj.io/tracking-id"
_PATIENCE = 120.0


class _Identity(NamedTuple):
    """What is another when somebody made a job or its pods again, changed it, or took it for their own."""

    uid: str
    generation: int
    is_owned: bool
    pods: tuple[str, ...]

    def difference(self, now: _Identity) -> str:
        """Return what became of it, by the first thing that differs."""
        told = ("was made again", "was changed", "is tracked by Argo CD", "has other pods")
        return next(words for words, old, new in zip(told, self, now, strict=True) if old != new)


@dataclass(frozen=True, slots=True)
class Watch:
    """Jobs that run.

    Args:
        jobs: of each team one, with the object that it was made from and what it was at first.
        tried: how many jobs were submitted, those among them that were refused.
    """

    lab: Lab
    jobs: Mapping[str, tuple[Job, Manifest, _Identity]]
    tried: int

    def without(self, team: str) -> Watch:
        """Return the watch over the others' jobs."""
        return replace(
            self, jobs={name: watched for name, watched in self.jobs.items() if name != team}
        )

    def disturbed(self) -> Iterator[Failure]:
        """Yield each job that is not what it was."""
        for job, manifest, before in self.jobs.values():
            try:
                now = _identity(job)
            except Refused as refused:
                yield Failure(manifest.path, str(refused), manifest.at)
                continue
            if now != before:
                words = f"the job {before.difference(now)}; {job.waits_because}"
                yield Failure(manifest.path, words, manifest.at)

    def end(self) -> None:
        """Delete the jobs, and wait until nothing is left of them."""
        for job, _, _ in self.jobs.values():
            job.delete()
        self.lab.processes.waited(
            lambda: all(job.is_gone for job, _, _ in self.jobs.values()), _PATIENCE
        )


def watch(lab: Lab, samples: Sequence[tuple[Sample, Manifest]]) -> tuple[Watch, list[Failure]]:
    """Have a member of each team run its first sample job; return those that run, and why others don't.

    A job that borrows is left out: its owners may take the nodes back at any moment.
    """
    jobs, failures = {}, []
    own = [(sample, manifest) for sample, manifest in samples if not _borrows(sample)]
    first = {sample.space.team.name: (sample, manifest) for sample, manifest in reversed(own)}
    for team, (sample, manifest) in sorted(first.items()):
        try:
            job = submit(lab.api, manifest.body, sample.space)
        except Refused as refused:
            failures.append(Failure(manifest.path, str(refused), manifest.at))
            continue
        if words := brought_up(lab, job, sample):
            failures.append(Failure(manifest.path, words, manifest.at))
        jobs[team] = (job, manifest, _identity(job))
    return Watch(lab, jobs, len(first)), failures


def _borrows(sample: Sample) -> bool:
    """Tell whether a team owns fewer nodes than the job takes; a share has the size of a job."""
    cluster, hardware = sample.space.cluster, sample.launch.hardware.name
    pools = {pool.name for pool in cluster.pools if pool.hardware.name == hardware}
    quotas = [
        each
        for each in sample.space.team.quotas
        if each.cluster == cluster.name and each.pool in pools
    ]
    return not any(quota.is_share or quota.nodes >= sample.nodes for quota in quotas)


def _identity(job: Job) -> _Identity:
    metadata = job.body["metadata"]
    owned = _OWNED in metadata.get("annotations", {})
    return _Identity(
        metadata["uid"],
        metadata["generation"],
        owned,
        tuple(pod.body["metadata"]["uid"] for pod in job.pods),
    )
