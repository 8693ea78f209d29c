"""A full cluster: which waiting jobs lack a reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from tests.conftest import REPOSITORY
from trainyard.generation.generate import generate
from trainyard_rehearsal.checks.job_templates import JobTemplate, templates_of
from trainyard_rehearsal.checks.jobs import Job
from trainyard_rehearsal.checks.load import _wrongly_waiting
from trainyard_rehearsal.publication import sample_jobs


@dataclass(frozen=True)
class _Waiting:
    """A job that waits."""

    waiting_reason: str
    is_admitted: bool = False


def _templates_of_two_spaces() -> list[JobTemplate]:
    """Return templates of one runtime in two namespaces with one queue."""
    generation = generate(REPOSITORY / "profiles", "../profiles/components", ("lab",), "2026-11-21")
    platform = generation.checked.platform
    assert platform
    site = next(site for site in platform.sites if site.name == "lab")
    return [
        template
        for template in templates_of(sample_jobs(site, generation.manifests["lab"], "speech"))
        if template.sample.launch.runtime.name == "torchrun"
    ]


def _problems(templates: list[JobTemplate], *jobs: tuple[str, int]) -> list[str]:
    submitted = [
        (cast("Job", _Waiting(reason)), template, pods)
        for template, (reason, pods) in zip(templates, jobs, strict=True)
    ]
    return [problem for _, _, problem in _wrongly_waiting(submitted)]


def test_equal_jobs_of_two_namespaces_share_a_reason() -> None:
    """Kueue evaluates one of the jobs of a queue that have equal pods."""
    templates = _templates_of_two_spaces()[:2]
    assert len({template.queue.name for template in templates}) == 1
    assert len({template.space.namespace for template in templates}) == 2

    assert _problems(templates, ("no quota", 9), ("", 9)) == []
    assert _problems(templates, ("no quota", 9), ("", 8)) == ["waits without a reason"]
