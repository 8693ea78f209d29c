"""Hostile and harmless jobs, made from the samples."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from trainyard.generation.generate import generate
from trainyard.model.manifest import Manifest
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.harmless import harmless_jobs
from trainyard_rehearsal.checks.hostile import hostile_changes, hostile_jobs, jobs_over_limits
from trainyard_rehearsal.publication import sample_jobs

_ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def samples() -> list[tuple[Sample, Manifest]]:
    generation = generate(_ROOT / "profiles", "../profiles/components", (), "2026-01-01")
    assert generation.checked.platform
    found = []
    for site in generation.checked.platform.sites:
        found += sample_jobs(site, generation.manifests[site.name], "")
    return found


def test_hostile_jobs_differ_from_the_sample_and_each_other(
    samples: list[tuple[Sample, Manifest]],
) -> None:
    for sample, manifest in samples:
        variants = [*hostile_jobs(sample, manifest.body), *jobs_over_limits(sample, manifest.body)]
        assert all(each.refusal and each.body != manifest.body for each in variants)
        assert not [
            display
            for display, count in Counter(each.display for each in variants).items()
            if count > 1
        ]


def test_harmless_jobs_begin_with_the_sample(samples: list[tuple[Sample, Manifest]]) -> None:
    assert all(
        next(harmless_jobs(sample, manifest.body)).body == manifest.body
        for sample, manifest in samples
    )


def test_every_hostile_change_has_an_expected_refusal(
    samples: list[tuple[Sample, Manifest]],
) -> None:
    assert all(
        words
        for sample, manifest in samples
        for _, _, words in hostile_changes(sample, manifest.body)
    )
