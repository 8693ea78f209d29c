"""Many jobs at once on a cluster of the size that people have."""

from __future__ import annotations

from dataclasses import replace

import pytest

from generator.rehearsal import _samples
from generator.rehearse.load import check_load
from generator.rehearse.stand_ins import settle
from tests.e2e.stage import CLUSTER, NEW, Stage

pytestmark = pytest.mark.e2e

_NODES = {
    f"clusters/{CLUSTER}.yaml": {"pools": {"dgx-h100": {"nodes": 64, "reserve": 0}}},
    "runtimes/openmpi-cuda.yaml": {"maxNodes": 32},
    "teams/nlp.yaml": {"quota": {CLUSTER: {"dgx-h100": {"nodes": 40, "borrow": 12}}}, "largestJob": {"nodes": 16}},
    "teams/vision.yaml": {"quota": {CLUSTER: {"dgx-h100": {"nodes": 24, "borrow": 12}}}, "largestJob": {"nodes": 16}},
}


@pytest.mark.parametrize("ground", [NEW], indirect=True, ids=[NEW.name])
def test_fifty_jobs_share_sixty_four_nodes(ground: Stage) -> None:
    """All end; no queue and no pool ever has more than it may; nobody waits beside nodes of his own."""
    scene = ground.stand(_NODES)
    lab = replace(ground.lab, plan=replace(ground.lab.plan, site=scene.site))
    settle(lab)

    (outcome,) = check_load(lab, _samples(scene.site, scene.manifests, ""))

    assert not outcome.failures, outcome.failures
    assert outcome.held == outcome.tried >= 50
    assert "of 64 dgx-h100" in outcome.remark
