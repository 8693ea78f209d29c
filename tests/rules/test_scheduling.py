"""What the cases of the scheduling rules leave open."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import messages

CLUSTER, NLP = "clusters/prod-east.yaml", "teams/nlp.yaml"
H200 = {"extends": "nvidia-dgx-h100", "gpu": {"product": "H200"}, "labels": {"nvidia.com/gpu.product": "H200"}}


@pytest.mark.parametrize(("hardware", "mixed"), [("dgx-h100", 0), ("h200", 1)])
def test_queue_over_two_pools_is_judged_by_their_hardware(hardware: str, mixed: int) -> None:
    """Flavors of one hardware profile give the same resources, whatever the pools are called."""
    changes: dict[str, Any] = {
        "hardware/h200.yaml": H200,
        CLUSTER: {"pools": {"spare": {"hardware": hardware, "nodes": 2, "fabric": "ib"}}},
        NLP: {"quota": {"prod-east": {"spare": {"nodes": 1}}}},
    }

    assert len(messages("scheduling/mixed-hardware", changes)) == mixed
