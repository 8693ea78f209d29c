"""What `diff` says about a change is what happens when Argo CD has synced it."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.e2e.reality import Walk
from tests.e2e.reality_changes import kinds
from tests.e2e.reality_tally import table
from tests.e2e.setup import REALITY, REALITY_OLD, Setup
from tests.e2e.stage import Stage

pytestmark = pytest.mark.e2e

_BOTH = [
    pytest.param(REALITY, id=REALITY.name),
    pytest.param(REALITY_OLD, id=REALITY_OLD.name, marks=pytest.mark.slow),
]
_MANY = 112
"""Each kind of change seven times."""
_SHARE = 0.99

Property = Callable[[str, object], None]


@pytest.fixture(scope="session")
def walks() -> dict[Setup, Walk]:
    """Return the walk of each control plane, which later tests go on with."""
    return {}


@pytest.mark.parametrize("stage", _BOTH, indirect=True)
def test_what_diff_says_happens(
    stage: Stage, walks: dict[Setup, Walk], changes: int, seed: str, record_property: Property
) -> None:
    _go_on(_walk(walks, stage, seed), changes, seed, record_property)


@pytest.mark.slow
@pytest.mark.parametrize("stage", _BOTH, indirect=True)
def test_what_diff_says_happens_many_times(
    stage: Stage, walks: dict[Setup, Walk], seed: str, record_property: Property
) -> None:
    walk = _walk(walks, stage, seed)
    _go_on(walk, _MANY, seed, record_property)
    assert all(tally.right for tally in walk.tallies.values())


def _walk(walks: dict[Setup, Walk], stage: Stage, seed: str) -> Walk:
    """Return the walk of a control plane; the first test of it begins one."""
    if stage.setup not in walks:
        walks[stage.setup] = Walk(stage, random.Random(seed))
        walks[stage.setup].begin()
    return walks[stage.setup]


def _go_on(walk: Walk, changes: int, seed: str, record: Property) -> None:
    """Try changes until there are as many; of each class, nearly all that was said happened."""
    todo = kinds(walk.order)
    while walk.tried.total() < changes:
        walk.change(next(todo))
    record("table", f"{_title(walk, seed)}\n\n{table(walk.tallies)}")
    misses = [f"--seed {seed}: {each}" for tally in walk.tallies.values() for each in tally.misses]
    for name, tally in walk.tallies.items():
        assert min(tally.precision, tally.recall) >= _SHARE, (name, misses)
    assert not walk.stuck


def _title(walk: Walk, seed: str) -> str:
    return (
        f"{walk.stage.setup.name}, --seed {seed}: {walk.tried.total()} changes merged, "
        f"{walk.refused.total()} refused by rules"
    )
