"""The smallest change after which a job would start."""

from __future__ import annotations

from typing import Any

import pytest

from tests.jobs.fit.setting import Body, admits, ground, sample
from tests.jobs.fit.test_walk import used
from tests.rules.cases import merged
from trainyard.model.admission import Answer, Denial, Request
from trainyard_jobs.fit.repair import with_change
from trainyard_jobs.fit.walk import judge

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
            ("remove spec.trainer.resourcesPerNode.requests",),
        ),
        (
            {"spec": {"trainer": {"numNodes": 9}}, "metadata": {"labels": {QUEUE: "cpu"}}},
            ("set spec.trainer.numNodes to 4", f"set the label {QUEUE} to gpu"),
        ),
        ({"metadata": {"namespace": "team-vision"}}, ("set metadata.namespace to team-nlp",)),
        ({"metadata": {"labels": {QUEUE: True}}}, (f"set the label {QUEUE} to gpu",)),
        ({"metadata": {"labels": {"x": 1}}}, ("remove metadata.labels.x",)),
        (
            {"spec": {"runtimeRef": {"kind": "TrainingRuntime"}}},
            ("set spec.runtimeRef.kind to ClusterTrainingRuntime",),
        ),
        ({"spec": {"trainer": {"numNodes": "3"}}}, ("set spec.trainer.numNodes to 3",)),
        ({"spec": {"trainer": {"numNodes": "9"}}}, ("set spec.trainer.numNodes to 4",)),
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
                "remove spec.initializer.model",
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
    assert change(job, refuses_env) == ("remove spec.trainer.env[0]",)


def _answer(request: Request) -> Answer:
    has_env = request.body["kind"] == "TrainJob" and "env" in request.body["spec"]["trainer"]
    return Answer((Denial("help", "help-nlp", "no"),), "no") if has_env else Answer((), "")


def test_a_generated_name_leaves_room_for_what_the_server_appends() -> None:
    def refuses_long(requests: Any) -> list[Answer]:
        denied = Answer((Denial("help", "help-nlp", "no"),), "no")
        names = [str(each.body["metadata"]["name"]) for each in requests]
        return [denied if len(name) > 60 else Answer((), "") for name in names]

    job = merged(sample({}), {"metadata": {"generateName": "x" * 60}})
    named = merged(job, {"metadata": {"name": "x" * 62}})
    del job["metadata"]["name"]

    longest = ground({}).tenant.spaces[0].grants[0].launch.longest_job_name
    assert [*change(job, refuses_long), *change(named, refuses_long)] == [
        f"shorten metadata.generateName to {longest - 5} characters",
        f"shorten metadata.name to {longest} characters",
    ]


def labelled(**labels: Any) -> Body:
    """Return a sample with a hundred harmless labels and some others."""
    more = {f"x{number}": "y" for number in range(100)}
    body: Body = merged(sample({}), {"metadata": {"labels": {**more, **labels}}})
    return body


def test_a_label_is_found_among_many() -> None:
    assert change(labelled(other=1)) == ("remove metadata.labels.other",)

    other = {"kueue.x-k8s.io/priority-class": "ghost", "other": 1}
    assert change(labelled(**other), refuses("ghost")) == (
        "set the labels kueue.x-k8s.io/priority-class: batch",
        "remove metadata.labels.other",
    )


def test_many_refused_labels_are_removed_together() -> None:
    kept = f"{QUEUE}, kueue.x-k8s.io/priority-class"

    assert change(labelled(), refuses("x7", "x8", "x90", "x91")) == (
        f"remove all labels but {kept}",
    )


def test_labels_do_not_multiply_what_is_tried() -> None:
    """The evaluator is stopped after a minute."""
    asked: list[int] = []

    def refuses_all(requests: Any) -> list[Answer]:
        asked.append(len(requests))
        return [Answer((Denial("help", "help-nlp", "no"),), "no") for _ in requests]

    assert change(labelled(), refuses_all) == ()
    assert max(asked) < 150


def overridden(**pod: Any) -> Body:
    """Return a sample whose pods of node get more fields."""
    override = {"targetJobs": [{"name": "node"}], "spec": pod}
    body: Body = merged(sample({}), {"spec": {"podTemplateOverrides": [override]}})
    return body


OTHER = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}


def refuses(*words: str) -> Any:
    """Return a judge that refuses jobs with one of some words."""

    def judged(requests: Any) -> list[Answer]:
        denied = Answer((Denial("limits", "limits-nlp", "no"),), "no")
        return [
            denied if any(word in str(each.body) for word in words) else Answer((), "")
            for each in requests
        ]

    return judged


def test_only_the_part_that_is_refused_is_removed() -> None:
    job = overridden(tolerations=[{"key": "a"}, {"operator": "Exists"}], volumes=[OTHER])

    path = "spec.podTemplateOverrides[0].spec.tolerations[1]"
    assert change(job, refuses("Exists")) == (f"remove {path}",)


def test_a_refused_field_is_removed_without_the_others() -> None:
    job = overridden(serviceAccountName="mine", nodeSelector={"rack": "7"})

    path = "spec.podTemplateOverrides[0].spec.nodeSelector"
    assert change(job, refuses("rack")) == (f"remove {path}",)


def test_parts_that_are_refused_together_are_removed_together() -> None:
    host = {"name": "host", "hostPath": {"path": "/"}}
    mounts = [{"name": "data", "mountPath": "/data"}, {"name": "host", "mountPath": "/host"}]
    job = overridden(volumes=[OTHER, host], containers=[{"name": "node", "volumeMounts": mounts}])

    pod = "spec.podTemplateOverrides[0].spec"
    expected = f"remove {pod}.volumes[1] and {pod}.containers[0].volumeMounts[1]"
    assert change(job, refuses("hostPath", "/host")) == (expected,)
