"""Jobs that run while something else happens, and whether anybody disturbed them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from generator.model.manifest import Manifest
from generator.model.space import Sample
from generator.rehearse.api import Refused
from generator.rehearse.jobs import Job, submit
from generator.rehearse.lab import Lab
from generator.rehearse.life import brought_up
from generator.rehearse.outcome import Failure

_OWNED = "argocd.argoproj.io/tracking-id"
_PATIENCE = 120.0


class _Identity(NamedTuple):
    """What is another when somebody made a job or its pods again, changed it, or took it for their own."""

    uid: str
    generation: int
    is_owned: bool
    pods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Watch:
    """Jobs that run.

    Args:
        jobs: of each team one, with the object that it was made from and what it was at first.
    """

    lab: Lab
    jobs: Mapping[str, tuple[Job, Manifest, _Identity]]

    def without(self, team: str) -> Watch:
        """Return the watch over the others' jobs."""
        return Watch(self.lab, {name: watched for name, watched in self.jobs.items() if name != team})

    def disturbed(self) -> Iterator[Failure]:
        """Yield each job that is not what it was."""
        for job, manifest, before in self.jobs.values():
            try:
                now = _identity(job)
            except Refused as refused:
                yield Failure(manifest.path, str(refused), manifest.at)
                continue
            if now != before:
                yield Failure(manifest.path, f"{before} became {now}; {job.waits_because}", manifest.at)

    def end(self) -> None:
        """Delete the jobs, and wait until nothing is left of them."""
        for job, _, _ in self.jobs.values():
            job.delete()
        self.lab.processes.waited(lambda: all(job.is_gone for job, _, _ in self.jobs.values()), _PATIENCE)


def watch(lab: Lab, samples: Sequence[tuple[Sample, Manifest]]) -> tuple[Watch, list[Failure]]:
    """Have a member of each team run its first sample job; return those that run, and why others don't."""
    jobs, failures = {}, []
    first = {sample.space.team.name: (sample, manifest) for sample, manifest in reversed(samples)}
    for team, (sample, manifest) in sorted(first.items()):
        try:
            job = submit(lab.api, manifest.body, sample.space)
        except Refused as refused:
            failures.append(Failure(manifest.path, str(refused), manifest.at))
            continue
        if words := brought_up(lab, job, sample):
            failures.append(Failure(manifest.path, words, manifest.at))
        jobs[team] = (job, manifest, _identity(job))
    return Watch(lab, jobs), failures


def _identity(job: Job) -> _Identity:
    metadata = job.body["metadata"]
    owned = _OWNED in metadata.get("annotations", {})
    return _Identity(
        metadata["uid"], metadata["generation"], owned, tuple(pod.body["metadata"]["uid"] for pod in job.pods)
    )
