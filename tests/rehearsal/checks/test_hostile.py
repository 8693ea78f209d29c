"""Hostile jobs are hostile: each differs from its sample, and each is refused with words."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from trainyard.model.manifest import Manifest
from trainyard.model.space import Sample
from trainyard.workflows.generate import generate
from trainyard_rehearsal.checks.harmless import harmless_jobs
from trainyard_rehearsal.checks.hostile import hostile_changes, hostile_jobs, jobs_over_limits

_ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def samples() -> list[tuple[Sample, Manifest]]:
    generation = generate(_ROOT / "profiles", "../profiles/components", (), "2026-01-01")
    assert generation.checked.platform
    found = []
    for site in generation.checked.platform.sites:
        jobs = {
            each.name: each for each in generation.manifests[site.name] if each.unit == "samples"
        }
        spaces = [space for tenant in site.tenants for space in tenant.spaces]
        found += [(sample, jobs[sample.name]) for space in spaces for sample in space.samples]
    return found


def test_every_variant_is_another_job(samples: list[tuple[Sample, Manifest]]) -> None:
    for sample, manifest in samples:
        variants = [*hostile_jobs(sample, manifest.body), *jobs_over_limits(sample, manifest.body)]
        assert all(each.refusal and each.body != manifest.body for each in variants)
        assert not [
            told for told, count in Counter(each.display for each in variants).items() if count > 1
        ]


def test_good_jobs_begin_with_the_sample(samples: list[tuple[Sample, Manifest]]) -> None:
    assert all(
        next(harmless_jobs(sample, manifest.body)).body == manifest.body
        for sample, manifest in samples
    )


def test_every_change_says_how_it_is_refused(samples: list[tuple[Sample, Manifest]]) -> None:
    assert all(
        words
        for sample, manifest in samples
        for _, _, words in hostile_changes(sample, manifest.body)
    )
