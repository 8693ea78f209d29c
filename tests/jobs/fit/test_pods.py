"""The pods that Trainer makes of a job and its runtime."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.jobs.fit.setting import Body, sample
from tests.rules.cases import platform_of
from trainyard.model.lookup import mapping
from trainyard.render.site import render_site
from trainyard_jobs.fit.form import defaulted
from trainyard_jobs.fit.limit_range import refusals, with_defaults
from trainyard_jobs.fit.merge import merged
from trainyard_jobs.fit.pods import Pods, pod_requests, pods_of, requests_of

TORCHRUN = {
    "runtimes/openmpi-cuda.yaml": {
        "launcher": "torchrun",
        "libraries": {"openmpi": None, "torch": "2.6.0"},
    }
}
SMALL = {
    "runtimes/openmpi-cuda.yaml": {"launcherPod": "small"},
    "hardware/dgx-h100.yaml": {"launcher": {"cores": 1, "memory": "4Gi"}},
}
STEPS = {
    "runtimes/openmpi-cuda.yaml": {
        "initialize": {
            "image": f"registry.example.com/x@sha256:{'1' * 64}",
            "volume": "scratch",
            "model": True,
        }
    },
    "teams/nlp.yaml": {"claims": {"scratch": "1Ti"}},
}


def pods(changes: dict[str, Any], job: Body) -> dict[str, Pods]:
    (site,) = platform_of(changes).sites
    (runtime,) = (
        each.body for each in render_site(site) if each.body["kind"] == "ClusterTrainingRuntime"
    )
    return {each.role: each for each in pods_of(runtime, job)}


@pytest.mark.parametrize(
    ("nodes", "expected"), [(None, (1, 1)), (0, (1, 1)), (1, (1, 1)), (2, (1, 1)), (4, (3, 1))]
)
def test_the_launcher_is_one_of_the_nodes(nodes: int | None, expected: tuple[int, int]) -> None:
    """As seen with Trainer 2.1.0 and 2.3.0: numNodes 0 and 1 cost as much as 2."""
    found = pods({}, merged_job({}, numNodes=nodes))

    assert (found["node"].count, found["launcher"].count) == expected


def merged_job(changes: dict[str, Any], **trainer: Any) -> Body:
    return sample(changes, **trainer)


@pytest.mark.parametrize(("nodes", "expected"), [(None, 1), (1, 1), (3, 3)])
def test_torchrun_has_nodes_alone(nodes: int | None, expected: int) -> None:
    found = pods(TORCHRUN, merged_job(TORCHRUN, numNodes=nodes))

    assert {role: each.count for role, each in found.items()} == {"node": expected}


@pytest.mark.parametrize(("nodes", "expected"), [(None, 1), (1, 1), (3, 3)])
def test_small_launcher_is_beside_all_nodes(nodes: int | None, expected: int) -> None:
    """It has what the hardware keeps for it, and no GPU; variables of the job are in its pod
    alone."""
    job = sample(SMALL, numNodes=nodes, env=[{"name": "A", "value": "b"}])
    found = pods(SMALL, job)

    assert (found["node"].count, found["launcher"].count) == (expected, 1)
    assert found["launcher"].requests == {"cpu": 2000, "memory": 4 << 30}
    variables = {
        role: {each["name"] for each in pod.template["spec"]["containers"][0]["env"]}
        for role, pod in found.items()
    }
    assert ("A" in variables["launcher"], "A" in variables["node"]) == (True, False)


def test_steps_come_before_the_ranks() -> None:
    found = pods(STEPS, sample(STEPS))

    assert list(found) == ["model-initializer", "node", "launcher"]
    assert found["model-initializer"].requests.keys() == {"cpu", "memory"}


def test_resources_of_a_job_replace_those_of_its_runtime_by_name() -> None:
    amounts = {"requests": {"cpu": "2"}, "limits": {"cpu": "2"}}
    found = pods({}, sample({}, resourcesPerNode=amounts))

    assert found["node"].requests["cpu"] == 2000
    assert found["launcher"].requests["nvidia.com/gpu"] == 8


def test_changes_of_a_job_reach_the_pods_of_its_role_only() -> None:
    volume = {"name": "x", "emptyDir": {}}
    patch = {"targetJobs": [{"name": "node"}], "spec": {"volumes": [volume]}}
    job = merged(sample({}), {"spec": {"podTemplateOverrides": [patch]}})
    found = pods({}, job)

    volumes = {role: mapping(each.template, "spec")["volumes"] for role, each in found.items()}
    assert volume in volumes["node"]
    assert volume not in volumes["launcher"]
    assert {"account", "dshm"} <= {each["name"] for each in volumes["node"]}


def test_an_init_container_counts_only_where_it_asks_for_more() -> None:
    small = {"name": "a", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}
    large = {"name": "b", "resources": {"limits": {"cpu": "2"}}}
    spec = {"containers": [small, small], "initContainers": [large, large]}

    assert pod_requests({"spec": spec}) == {"cpu": 2000, "memory": 2 << 30}


@given(st.dictionaries(st.sampled_from("abc"), st.none() | st.integers() | st.just({"x": 1})))
def test_a_merge_has_the_changed_fields_and_no_removed_one(change: dict[str, Any]) -> None:
    found = merged({"a": 1, "b": {"y": 2}}, change)

    for name, value in change.items():
        if value is None:
            assert name not in found
        elif isinstance(value, dict):
            assert found[name]["x"] == 1
        else:
            assert found[name] == value


def test_members_of_a_list_are_merged_by_their_key() -> None:
    old = {"containers": [{"name": "node", "image": "a", "args": ["1", "2"]}]}
    new = {"containers": [{"name": "node", "args": ["3"]}, {"name": "more"}]}

    assert merged(old, new)["containers"] == [
        {"name": "node", "image": "a", "args": ["3"]},
        {"name": "more"},
    ]


def test_kueue_adds_its_patch_and_suspends() -> None:
    found = defaulted(sample({}), patches_runtimes=True, has_default_queue=False)["spec"]

    assert found["suspend"] is True
    assert [each["manager"] for each in found["runtimePatches"]] == ["kueue.x-k8s.io/manager"]
    older = defaulted(sample({}), patches_runtimes=False, has_default_queue=False)
    assert "runtimePatches" not in older["spec"]


RANGE = {
    "spec": {
        "limits": [
            {
                "type": "Container",
                "default": {"cpu": "2"},
                "defaultRequest": {"cpu": "250m", "memory": "512Mi"},
                "max": {"memory": "4Gi"},
                "min": {"cpu": "500m"},
            },
            {"type": "Pod", "max": {"cpu": "1"}},
        ]
    }
}


def test_a_limit_range_fills_in_what_is_absent() -> None:
    spec = {"containers": [{"name": "a"}, {"name": "b", "resources": {"limits": {"cpu": "3"}}}]}
    found = with_defaults({"spec": spec}, [RANGE])["spec"]["containers"]

    assert [requests_of(each) for each in found] == [
        {"cpu": 250, "memory": 512 << 20},
        {"cpu": 3000, "memory": 512 << 20},
    ]
    assert found[0]["resources"]["limits"] == {"cpu": "2"}


def test_a_limit_range_refuses_what_is_out_of_range() -> None:
    resources = {"limits": {"memory": "8Gi"}, "requests": {"cpu": "250m", "memory": "8Gi"}}
    template = {"spec": {"containers": [{"name": "a", "resources": resources}]}}

    assert list(refusals(template, [RANGE])) == [
        "container a requests less cpu than 500m",
        "container a has a limit of more memory than 4Gi",
    ]
