"""Reasons of jobs that wait, as their users read them."""

from __future__ import annotations

import pytest

from tests.rehearsal.served import Served
from trainyard_rehearsal.checks.jobs import KUEUE, Job
from trainyard_rehearsal.checks.queueing import _reports_missing_nodes
from trainyard_rehearsal.control_plane.lab import Lab

OTHER_FLAVOR = "flavor dgx-a100 doesn't match node affinity"


@pytest.mark.parametrize(
    ("about", "words", "reported"),
    [
        ("trainjob-nlp-train", OTHER_FLAVOR, False),
        ("trainjob-nlp-train", 'topology "ndr" doesn\'t allow to fit any of 2 pod(s)', True),
        ("trainjob-other", 'topology "ndr" doesn\'t allow to fit any of 2 pod(s)', False),
    ],
)
def test_reason_is_found_in_the_events_of_the_job(
    server: Served, lab: Lab, about: str, words: str, reported: bool
) -> None:
    """The condition has Kueue's message for the last flavor, which the job can't use."""
    waiting = {"type": "QuotaReserved", "status": "False", "reason": "Pending"}
    server.put(
        *(KUEUE, "Workload", "trainjob-nlp-train", "team-nlp"),
        metadata={"ownerReferences": [{"name": "nlp-train"}]},
        status={"conditions": [{**waiting, "message": OTHER_FLAVOR}]},
    )
    server.put(
        *("v1", "Event", "pending", "team-nlp"), involvedObject={"name": about}, message=words
    )

    assert _reports_missing_nodes(Job(lab.api, "team-nlp", "nlp-train")) is reported
