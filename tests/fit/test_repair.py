"""The smallest change after which a job would start."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fit.setting import Body, admits, ground, sample
from tests.fit.test_walk import used
from tests.rules.cases import merged
from trainyard.fit.repair import with_change
from trainyard.fit.walk import judge
from trainyard.model.admission import Answer, Denial, Request

QUEUE = "kueue.x-k8s.io/queue-name"


def change(job: Body, judged_by: Any = admits, snapshot: Any = None) -> tuple[str, ...]:
    on = ground({}, snapshot=snapshot)
    object.__setattr__(on, "judge", judged_by)
    (found,) = judge(on, [job])
    return with_change(on, job, found).change


def test_a_job_that_starts_needs_none() -> None:
    assert change(sample({})) == ()


def test_a_large_job_gets_the_most_nodes_that_fit() -> None:
    assert change(sample({}, numNodes=40)) == ("set spec.trainer.numNodes to 4",)


def test_a_waiting_job_gets_the_nodes_that_are_free() -> None:
    job = sample({}, numNodes=4)

    assert change(job, snapshot=used(2, 1000, "nlp-gpu")) == ("set spec.trainer.numNodes to 2",)
    assert change(job, snapshot=used(3, 1000, "nlp-gpu")) == ()


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ({"metadata": {"labels": {QUEUE: "cpu"}}}, (f"set the label {QUEUE} to gpu",)),
        (
            {"spec": {"runtimeRef": {"name": "openmpi-cuda"}}},
            ("set spec.runtimeRef.name to openmpi-cuda-v1-dgx-h100",),
        ),
        (
            {"spec": {"trainer": {"resourcesPerNode": {"requests": {"example.com/x": "1"}}}}},
            ("remove spec.trainer.resourcesPerNode",),
        ),
        (
            {"spec": {"trainer": {"numNodes": 9}}, "metadata": {"labels": {QUEUE: "cpu"}}},
            ("set spec.trainer.numNodes to 4", f"set the label {QUEUE} to gpu"),
        ),
        ({"metadata": {"namespace": "team-vision"}}, ()),
        (
            {
                "spec": {
                    "trainer": {"numNodes": 9},
                    "initializer": {"model": {"storageUri": "s3://x/y"}},
                },
                "metadata": {"labels": {QUEUE: "cpu"}},
            },
            (
                "set spec.trainer.numNodes to 4",
                f"set the label {QUEUE} to gpu",
                "remove spec.initializer",
            ),
        ),
    ],
)
def test_the_smallest_change_is_found(patch: Body, expected: tuple[str, ...]) -> None:
    assert change(merged(sample({}), patch)) == expected


def test_a_part_that_a_policy_refuses_is_removed() -> None:
    def refuses_env(requests: Any) -> list[Answer]:
        return [_answer(each) for each in requests]

    job = merged(sample({}), {"spec": {"trainer": {"env": [{"name": "A", "value": "b"}]}}})
    assert change(job, refuses_env) == ("remove spec.trainer.env",)


def _answer(request: Request) -> Answer:
    has_env = request.body["kind"] == "TrainJob" and "env" in request.body["spec"]["trainer"]
    return Answer((Denial("help", "help-nlp", "no"),), "no") if has_env else Answer((), "")
