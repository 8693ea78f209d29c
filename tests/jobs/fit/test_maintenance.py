"""Jobs while nodes are in maintenance: nine nodes, one in reserve, four of each of two teams."""

from __future__ import annotations

from typing import Any

import pytest

from tests.jobs.fit.setting import ground, sample, verdict
from trainyard_jobs.fit.verdict import Link, Standing

NODES = [f"gpu-{number}" for number in range(9)]


def out(nodes: list[str], **taken: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"nodes": nodes, "until": "2026-12-01", "reason": "new cables"}
    entry |= {"from": taken} if taken else {}
    return {"clusters/prod-east.yaml": {"pools": {"dgx-h100": {"maintenance": [entry]}}}}


@pytest.mark.parametrize(
    ("changes", "nodes", "standing"),
    [
        # The reserve takes the place of one.
        (out(NODES[:1]), 4, Standing.ADMITTED),
        (out(NODES[:3], nlp=2), 2, Standing.ADMITTED),
        (out(NODES[:3], nlp=2), 3, Standing.WAITS),
        (out(NODES[:3], nlp=2), 4, Standing.WAITS),
        # It would not start with all nodes either.
        (out(NODES[:3], nlp=2), 5, Standing.NEVER),
        (out(NODES), 2, Standing.WAITS),
    ],
)
def test_job_that_is_larger_than_what_is_left_waits(
    changes: dict[str, Any], nodes: int, standing: Standing
) -> None:
    assert verdict(ground(changes), sample(changes, numNodes=nodes)).standing is standing


def test_message_names_nodes_day_and_reason() -> None:
    changes = out(NODES[:3], nlp=2)
    (check,) = verdict(ground(changes), sample(changes, numNodes=4)).checks
    assert check.link is Link.QUOTA
    assert check.message == (
        "the job is larger than what is left: 3 of 9 nodes of dgx-h100 are out of use, "
        "gpu-0, gpu-1, gpu-2 until 2026-12-01 (new cables)"
    )
    assert check.at is not None
    assert check.at.path == ("pools", "dgx-h100", "maintenance", 0)
