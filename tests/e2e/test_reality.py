"""What `diff` says about a change is what happens when Argo CD has synced it."""

from __future__ import annotations

import random

import pytest

from tests.e2e.reality import Walk
from tests.e2e.reality_changes import kinds_of
from tests.e2e.setup import REALITY
from tests.e2e.stage import Stage

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("stage", [REALITY], indirect=True, ids=[REALITY.name])
def test_what_diff_says_happens(stage: Stage, changes: int, seed: str) -> None:
    order = random.Random(seed)
    walk = Walk(stage, order)
    walk.begin()
    import time
    for kind in kinds_of(changes, order):
        t = time.time()
        walk.change(kind)
        print(kind, round(time.time() - t, 1), flush=True)
    for name, tally in walk.tallies.items():
        print(name, tally.right, tally.said_only, tally.happened_only)
    print(walk.stuck, walk.refused)
