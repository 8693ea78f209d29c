"""Without the evaluator: what is judged all the same, and what the verdict is called."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.jobs.fit.setting import ground, sample, verdict
from tests.rules.cases import merged
from trainyard_jobs.fit.verdict import Standing

Body = dict[str, Any]


def judged(changes: Body) -> Any:
    on = replace(ground({}), judge=None)
    return verdict(on, merged(sample({}), changes))


def pods(spec: Body) -> Body:
    jobs = [{"name": "node", "template": {"spec": {"template": {"spec": spec}}}}]
    patch = {"template": {"spec": {"replicatedJobs": jobs}}}
    own = {"manager": "example.com/me", "trainingRuntimeSpec": patch}
    overrides = [{"targetJobs": [{"name": "node"}], "spec": spec}]
    return {"spec": {"runtimePatches": [own], "podTemplateOverrides": overrides}}


def test_job_without_the_evaluator_is_admitted_as_far_as_judged() -> None:
    found = judged({})

    assert found.standing is Standing.IN_PART
    assert {check.link.value for check in found.unjudged} == {"admission policies", "Pod Security"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"spec": {"trainer": {"numNodes": 10_000}}}, "numNodes: 10000 is not from"),
        ({"metadata": {"name": "a" * 60}}, "it has 60 characters"),
        ({"metadata": {"labels": {"kueue.x-k8s.io/priority-class": "x"}}}, "the classes are"),
        (
            {"spec": {"trainer": {"resourcesPerNode": {"limits": {"nvidia.com/gpu": 3}}}}},
            "and not nvidia.com/gpu: 3",
        ),
        (
            {"spec": {"trainer": {"resourcesPerNode": {"limits": {"amd.com/gpu": 8}}}}},
            "and not amd.com/gpu: 8",
        ),
    ],
)
def test_what_the_profiles_limit_is_judged(changes: Body, words: str) -> None:
    found = judged(changes)

    assert found.standing is Standing.NEVER
    assert any(words in check.message for check in found.deciding), found.deciding


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"volumes": [{"name": "x", "hostPath": {"path": "/"}}]}, "mounts no hostPath"),
        ({"nodeSelector": {"gpu": "h100"}}, "set no nodeSelector"),
    ],
)
def test_changes_of_pods_are_judged(spec: Body, words: str) -> None:
    on = ground({})
    key = "runtimePatches" if on.patches_runtimes else "podTemplateOverrides"
    own = pods(spec)["spec"][key]
    job = sample({})
    job["spec"][key] = own

    found = verdict(replace(on, judge=None), job)

    assert any(words in check.message for check in found.checks), found.checks
    assert found.standing is Standing.NEVER
