"""Jobs that run while Argo CD syncs a change, and those that the change evicts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.e2e.reality_jobs import Request, Situation
from tests.e2e.stage import Scene
from trainyard_rehearsal.checks.jobs import Job, conditions

_AFTERWARDS, _AT_MOST = 2.0, 45.0
"""Seconds in which Kueue evicts whom it evicts at all; it takes less than one on a free machine."""


@dataclass(slots=True)
class Running:
    """Jobs that were started before a change, each with its request."""

    jobs: list[tuple[Request, Job]] = field(default_factory=list)

    def start(self, scene: Scene, plan: Situation) -> None:
        """End the jobs of earlier changes, and start others."""
        scene.stage.delete_jobs()
        self.jobs = [(each, _submitted(scene, each)) for each in plan.runs]
        assert scene.runs(*(job for _, job in self.jobs))
        for each in plan.waits:
            _submitted(scene, each)

    def states(self) -> dict[str, str]:
        """Return, by the name of a job, what an eviction changes."""
        return {job.name: _state(job) for _, job in self.jobs}

    def evicted(
        self, scene: Scene, plan: Situation, before: Mapping[str, str], told: frozenset[str]
    ) -> set[object]:
        """Return the teams whose jobs are evicted after a change.

        Args:
            scene: the tree after the change.
            plan: has the jobs that are submitted then.
            before: states of the jobs before the change.
            told: teams that it may evict, as far as this plan shows it.
        """
        for each in plan.claims:
            _submitted(scene, each)

        def gone() -> set[object]:
            now = self.states()
            return {each.team for each, job in self.jobs if now[job.name] != before[job.name]}

        seconds = _AT_MOST if told or plan.evicts else _AFTERWARDS
        scene.stage.until(lambda: bool(gone()) and gone() >= told, seconds)
        return gone()


def _submitted(scene: Scene, each: Request) -> Job:
    return scene.submit(each.team, each.nodes, priority_class=each.priority)


def _state(job: Job) -> str:
    """Return what differs after an eviction, or after Kueue gave the job's quota to others."""
    workload = job.workload
    stops = [each for each in conditions(workload) if each["type"] == "Evicted"]
    evictions = (workload.get("status") or {}).get("schedulingStats", {}).get("evictions", [])
    is_evicted = any(each["status"] == "True" for each in stops)
    return json.dumps([workload.get("metadata", {}).get("uid"), evictions, is_evicted])
