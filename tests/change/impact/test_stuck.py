"""Waiting jobs of a dump that can't start any more after a change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.change.impact.platforms import NLP, quota, sides
from tests.change.impact.test_disruption import of
from tests.change.impact.test_running import OPENMPI, jobs
from tests.dumps import train_job, waiting
from trainyard.change.objects import Sides


def stuck(both: Sides, *bodies: Mapping[str, Any]) -> dict[str, str]:
    return {each.job: each.reason for each in jobs(both, *bodies).stuck}


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_job_larger_than_what_its_queue_admits_is_named(version: str) -> None:
    both = sides(of(quota(4), quota(4)), of(quota(2), quota(6)))
    found = stuck(both, waiting("large", 3, version=version), waiting("small", 2))
    assert found == {
        "large": "can't start any more: it asks for 24 of nvidia.com/gpu, and its queue admits "
        "16 at most"
    }


def test_job_that_could_not_start_before_is_no_news() -> None:
    both = sides(of(quota(4), quota(4)), of(quota(2), quota(6)))
    assert stuck(both, waiting("huge", 7)) == {}


def test_borrowed_nodes_count_as_what_a_queue_admits() -> None:
    lends = quota(4, lend=4)
    both = sides(of(quota(4), lends), of(quota(2, borrow=4), lends))
    assert stuck(both, waiting("a", 4)) == {}


def test_job_that_kueue_has_not_considered_is_not_judged_by_size() -> None:
    both = sides(of(quota(4), quota(4)), of(quota(2), quota(6)))
    new = waiting("new", 4)
    del new["status"]["resourceRequests"]
    assert stuck(both, new) == {}


def test_job_in_a_queue_that_is_drained_waits() -> None:
    both = sides({}, {NLP: {"state": "draining"}})
    reason = "does not start while ClusterQueue `nlp-gpu` has `stopPolicy: HoldAndDrain`"
    assert stuck(both, waiting("a", 1)) == {"a": reason}


def test_job_of_a_queue_that_goes_is_named() -> None:
    drained = {NLP: {"state": "draining"}}
    both = sides(drained, {NLP: {"state": "retired"}})
    assert set(stuck(both, waiting("a", 1))) == {"a"}
    assert stuck(both, waiting("a", 1, "team-vision")) == {}


def test_job_of_a_runtime_that_goes_must_be_submitted_again() -> None:
    raised = {"runtimes/openmpi-cuda.yaml": {"version": 2}}
    both = sides({}, raised)
    bodies = [waiting("old", 1), train_job("old", OPENMPI), waiting("unknown", 1)]
    reason = f"must be submitted again with another runtime: `{OPENMPI}` goes"
    assert stuck(both, *bodies) == {"old": reason}


def test_deactivated_and_finished_jobs_wait_for_nothing() -> None:
    both = sides({}, {NLP: {"state": "draining"}})
    off = waiting("off", 1)
    off["spec"]["active"] = False
    done = waiting("done", 1)
    done["status"]["conditions"].append({"type": "Finished", "status": "True"})
    assert jobs(both, off, done).waiting == 0
