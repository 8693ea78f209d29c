"""`fit` says of each random pair of platform and job what real controllers do with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from tests.e2e.fitting import Trial, cores, platform, shares, trials
from tests.e2e.setup import NEW, OLD
from tests.e2e.stage import Stage
from trainyard_jobs.fit.verdict import Standing
from trainyard_rehearsal.control_plane.fakes import settle
from trainyard_rehearsal.publication import sample_jobs

PLATFORMS = (platform, platform, platform, shares, cores)

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize(
        "stage", [NEW, OLD], indirect=True, ids=[NEW.name, OLD.name], scope="session"
    ),
]


def _tried(stage: Stage, make: Callable[[str], dict[str, Any]], seed: str, pairs: int) -> Trial:
    """Submit random jobs to a random platform, and compare each with its verdict."""
    scene = stage.deploy(make(seed))
    assert not scene.refused
    settle(scene.lab)
    samples = sample_jobs(scene.site, scene.manifests, "")
    trial = Trial(scene, samples, Random(seed))
    assert not list(trials(trial, pairs)), "\n".join([f"seed {seed}", *trial.disagreements])
    return trial


def test_fit_agrees_with_controllers(stage: Stage, pairs: int, seed: str) -> None:
    """Each platform once, and again while no job of one standing was seen."""
    wanted = {Standing.ADMITTED, Standing.WAITS, Standing.NEVER}
    counts: Counter[Standing] = Counter()
    for number, make in enumerate(PLATFORMS * 3):
        if number >= len(PLATFORMS) and set(counts) == wanted:
            break
        trial = _tried(stage, make, f"{seed}-{number}", -(-pairs // len(PLATFORMS)))
        counts.update(trial.counts)
    print(counts)  # noqa: T201 - what was tried, in the log of a failure and with -s
    assert set(counts) == wanted
