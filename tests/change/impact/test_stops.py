"""Queues that a state stops or opens: which, why, and what becomes of their jobs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.change.impact.platforms import CLUSTER, NLP, sides
from trainyard.change.impact.compare import compare
from trainyard.change.impact.stops import StopChange, stop_changes
from trainyard.cli.impact.notices import notices
from trainyard.cli.impact.quotas import quota_lines

POOL = "dgx-h100"
NODES = [f"gpu-{number:02}" for number in range(1, 10)]
WINDOW = {"nodes": NODES, "until": "2099-12-01", "reason": "power"}


def pool(**stated: Any) -> dict[str, Any]:
    return {CLUSTER: {"pools": {POOL: stated}}}


HELD, MAINTAINED = pool(state="held"), pool(maintenance=[WINDOW])


def lines(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    (cluster,) = compare([sides(before, after)], None, {}).clusters
    return [*quota_lines(cluster)]


def firsts(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [*notices(compare([sides(before, after)], None, {}))]


@pytest.mark.parametrize(
    ("stated", "cause"),
    [
        ({CLUSTER: {"state": "held"}}, "cluster prod-east is held"),
        (HELD, "pool dgx-h100 is held"),
    ],
)
def test_held_queues_are_named_with_the_cause(stated: dict[str, Any], cause: str) -> None:
    assert lines({}, stated)[:2] == [
        f"! held: nlp-gpu, vision-gpu; {cause}",
        "  no job starts in them; running jobs go on",
    ]
    assert "holds queues of nlp, vision on prod-east" in firsts({}, stated)
    assert lines(stated, {})[:2] == [
        f"~ active again: nlp-gpu, vision-gpu; before, {cause}",
        "  jobs that wait in them start",
    ]
    assert "opens queues of nlp, vision on prod-east" in firsts(stated, {})


def test_drained_jobs_wait_and_stay_waiting_when_the_queue_is_only_held() -> None:
    draining = {NLP: {"state": "draining"}}
    assert lines({}, draining)[:2] == [
        "! draining: nlp-gpu; team nlp is draining",
        "  their jobs are evicted and wait, and none starts",
    ]
    assert stop_changes(sides(draining, {NLP: {"state": "held"}})) == (
        StopChange("nlp", "nlp-gpu", "draining", "held", "team nlp is held"),
    )


def test_another_place_that_states_the_same_changes_nothing() -> None:
    assert stop_changes(sides(HELD, {CLUSTER: {"state": "held"}})) == ()
    assert stop_changes(sides({}, {})) == ()


def test_queue_that_maintenance_holds_too_is_not_opened() -> None:
    """Neither end says that jobs start while the other still holds the queue."""
    both = pool(state="held", maintenance=[WINDOW])
    assert stop_changes(sides(both, MAINTAINED)) == ()
    shown = "\n".join(lines(both, HELD))
    assert "all 9 nodes in use again" in shown
    assert "start again" not in shown
    assert "jobs start again in: nlp-gpu, vision-gpu" in "\n".join(lines(MAINTAINED, {}))
