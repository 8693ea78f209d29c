"""The smallest change after which a job would start."""

from __future__ import annotations

from typing import Any

import pytest

from tests.jobs.fit.setting import Body, admits, ground, sample, verdict
from tests.jobs.fit.test_walk import used
from tests.rules.cases import merged
from trainyard.model.admission import Answer, Denial
from trainyard_jobs.fit.repair import with_change
from trainyard_jobs.fit.verdict import Link
from trainyard_jobs.fit.walk import judge

TEXT = {"name": "A", "value": "b"}
MORE = {"requests": {"example.com/x": "1"}}
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
            {"spec": {"trainer": {"resourcesPerNode": MORE}}},
            ("remove spec.trainer.resourcesPerNode",),
        ),
        (
            {"spec": {"trainer": {"numNodes": 9}}, "metadata": {"labels": {QUEUE: "cpu"}}},
            ("set spec.trainer.numNodes to 4", f"set the label {QUEUE} to gpu"),
        ),
        ({"metadata": {"namespace": "team-vision"}}, ("set metadata.namespace to team-nlp",)),
        ({"metadata": {"labels": {QUEUE: True}}}, (f"set the label {QUEUE} to gpu",)),
        ({"metadata": {"labels": {"x": 1}}}, ('write metadata.labels["x"] as "1"',)),
        (
            {"spec": {"runtimeRef": {"kind": "TrainingRuntime"}}},
            ("set spec.runtimeRef.kind to ClusterTrainingRuntime",),
        ),
        ({"spec": {"trainer": {"numNodes": "3"}}}, ("set spec.trainer.numNodes to 3",)),
        ({"spec": {"trainer": {"numNodes": "9"}}}, ("set spec.trainer.numNodes to 4",)),
        (
            {
                "spec": {
                    "trainer": {"env": [{"name": "A", "value": "b"}, {"name": "N", "value": 3}]}
                }
            },
            ('write spec.trainer.env[1].value as "3"',),
        ),
        (
            {
                "spec": {"trainer": {"numNodes": 9, "resourcesPerNode": MORE}},
                "metadata": {"labels": {QUEUE: "cpu", "x": True}},
            },
            (
                "set spec.trainer.numNodes to 4",
                f"set the label {QUEUE} to gpu",
                'write metadata.labels["x"] as "true"',
                "remove spec.trainer.resourcesPerNode",
            ),
        ),
    ],
)
def test_a_change_that_helps_is_found(patch: Body, expected: tuple[str, ...]) -> None:
    assert change(merged(sample({}), patch)) == expected


@pytest.mark.parametrize(
    "patch",
    [
        {"spec": {"trainer": {"env": [{"name": "A", "value": "b"}]}}},
        {"spec": {"initializer": {"model": {"storageUri": "s3://x/y"}}}},
        {"spec": {"podTemplateOverrides": [{"targetJobs": [{"name": "node"}], "spec": {}}]}},
        {"metadata": {"labels": {"x": "y"}}},
    ],
)
def test_nothing_is_removed_that_the_user_may_have_meant(patch: Body) -> None:
    """A policy refuses it and says why; what the job is without it only its user knows."""
    refused = merged(sample({}), patch)

    def refuses(requests: Any) -> list[Answer]:
        denied = Answer((Denial("help", "help-nlp", "no"),), "no")
        return [denied for _ in requests]

    assert change(refused, refuses) == ()


@pytest.mark.parametrize("name", ["horovod", "grpo", "openmpi-cuda-v2-dgx-h100"])
def test_no_other_runtime_is_guessed(name: str) -> None:
    """It may have other libraries, or no fabric."""
    assert change(merged(sample({}), {"spec": {"runtimeRef": {"name": name}}})) == ()


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


def messages(patch: Body) -> list[str]:
    """Return what each link says of a sample job with a change."""
    return [check.message for check in verdict(ground({}), merged(sample({}), patch)).checks]


def test_a_misspelt_field_gets_the_name_that_was_meant() -> None:
    said = messages({"spec": {"trainer": {"numnodes": 2}, "Trainer": {}, "other": 1}})

    assert "spec.trainer: unknown field `numnodes`: did you mean `numNodes`?" in said
    assert "spec: unknown field `Trainer`: did you mean `trainer`?" in said
    assert "spec: unknown field `other`" in said


@pytest.mark.parametrize(("value", "text"), [(3, "3"), (True, "true"), (0.5, "0.5")])
def test_a_number_in_place_of_text_is_said_to_need_quotes(value: Any, text: str) -> None:
    said = messages({"spec": {"trainer": {"env": [{"name": "N", "value": value}]}}})

    path = "spec.trainer.env[0].value"
    assert said == [f'{path}: {text} is not text: write it in quotes, "{text}"']


def test_the_runtimes_of_a_team_are_named_in_place_of_one_that_there_is_not() -> None:
    """In the same run as a field that is wrong, since nobody can guess one."""
    trainer = {"env": [{"name": "N", "value": 3}]}
    patch = {"spec": {"runtimeRef": {"name": "horovod"}, "trainer": trainer}}
    on = ground({})

    (found,) = judge(on, [merged(sample({}), patch)])

    space = on.tenant.spaces[0]
    allowed = ", ".join(grant.launch.name for grant in space.grants)
    runtime = (
        f"there is no ClusterTrainingRuntime `horovod`: team nlp may use {allowed} in team-nlp"
    )
    links = [(check.link, check.message) for check in found.verdict.checks]
    assert (Link.RUNTIME, runtime) in links
    assert Link.FORM in dict(links)


def test_the_longest_name_is_that_of_the_runtime() -> None:
    longest = ground({}).tenant.spaces[0].grants[0].launch.longest_job_name
    (said,) = [text for text in messages({"metadata": {"name": "x" * 80}}) if "a-z" in text]

    assert longest < 63
    assert said.startswith(f"metadata.name: at most {longest} of a-z, 0-9 and -")


def test_many_values_are_written_as_text_at_once() -> None:
    """The evaluator is stopped after a minute: labels do not multiply what is tried."""
    asked: list[int] = []

    def counts(requests: Any) -> list[Answer]:
        asked.append(len(requests))
        return [Answer((), "") for _ in requests]

    job = merged(sample({}), {"metadata": {"labels": {f"x{n}": n for n in range(100)}}})

    (found,) = change(job, counts)
    assert found.startswith('write metadata.labels["x0"] as "0" and ')
    assert found.endswith(" and 97 more values as text")
    assert sum(asked) < 50
