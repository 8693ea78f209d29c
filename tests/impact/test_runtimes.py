"""Runtimes on both sides of a change, and who may use them."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.impact.platforms import NLP, RUNTIME, VISION, objects, sides, site
from trainyard.impact.images import described
from trainyard.impact.runtimes import runtime_changes
from trainyard.model.manifest import Manifest

IMAGE = "registry.example.com/ml/openmpi-cuda@sha256:" + "a" * 64
OLD_IMAGE = (
    "registry.example.com/ml/openmpi-cuda@sha256:"
    "9f2c1d7ab7b1f6f65b9d7c1ed6a7d0e1cf3e1a4f8a5d2bb0e6e0f0f7c5a4b3d2"
)
EDIT = f"image {OLD_IMAGE} -> {IMAGE}"
BOTH = ("nlp", "vision")
SECOND = "runtimes/torchrun.yaml"
TORCHRUN: dict[str, Any] = {
    "version": 1,
    "displayName": "torchrun",
    "docs": "https://docs.example.com/ml/torchrun",
    "image": IMAGE,
    "launcher": "torchrun",
    "libraries": {"torch": "2.6.0", "cuda": "12.6"},
    "hardware": ["dgx-h100"],
    "maxNodes": 4,
}


def changes(
    before: dict[str, Any], after: dict[str, Any]
) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return change, details and teams."""
    found = runtime_changes(sides(before, after))
    return [(each.change, each.details, each.teams) for each in found]


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({}, {RUNTIME: {"docs": "https://docs.example.com/other"}}, []),
        ({}, {RUNTIME: {"image": IMAGE}}, [("changed", (EDIT,), BOTH)]),
        (
            {},
            {RUNTIME: {"version": 2, "image": IMAGE}},
            [("added", (EDIT,), BOTH), ("retired", (), BOTH)],
        ),
        (
            {},
            {RUNTIME: {"deprecated": {"end": "2027-03-31"}}},
            [("deprecated until 2027-03-31", (), BOTH)],
        ),
        (
            {RUNTIME: {"deprecated": {"end": "2027-03-31"}}},
            {},
            [("supported again", (), BOTH)],
        ),
        (
            {},
            {SECOND: TORCHRUN, NLP: {"runtimes": ["openmpi-cuda", "torchrun"]}},
            [("added", (), ("nlp",))],
        ),
        (
            {SECOND: TORCHRUN, NLP: {"runtimes": ["openmpi-cuda", "torchrun"]}},
            {SECOND: TORCHRUN, VISION: {"runtimes": ["openmpi-cuda", "torchrun"]}},
            [("changed", ("team vision may use it", "team nlp may no longer use it"), BOTH)],
        ),
    ],
)
def test_changes(before: dict[str, Any], after: dict[str, Any], found: list[Any]) -> None:
    """What users choose from is compared, and what their pods get."""
    assert changes(before, after) == found


def test_retired_runtime_has_the_teams_that_used_it() -> None:
    """They are on the side before only."""
    listed = {NLP: {"runtimes": ["openmpi-cuda", "torchrun"]}, SECOND: TORCHRUN}
    (change,) = runtime_changes(sides(listed, {SECOND: TORCHRUN}))

    assert (change.runtime, change.objects) == ("torchrun", ("torchrun-v1-dgx-h100",))
    assert (change.change, change.teams) == ("retired", ("nlp",))


def test_equal_changes_of_several_objects_are_one() -> None:
    """A runtime on parts of nodes has an object for each part."""
    share = {"quota": {"prod-east": {"dgx-h100": {"nodes": None, "gpus": 4}}}, "largestJob": None}
    (change,) = runtime_changes(sides({NLP: share}, {NLP: share, RUNTIME: {"image": IMAGE}}))

    assert change.objects == ("openmpi-cuda-v1-dgx-h100", "openmpi-cuda-v1-dgx-h100-2gpu")
    assert change.details == (EDIT,)


def runtime() -> Manifest:
    (found,) = (
        each for key, each in objects(site({})).items() if key.kind == "ClusterTrainingRuntime"
    )
    return found


VARIABLES = st.dictionaries(
    st.sampled_from(["A", "B", "C"]), st.sampled_from(["1", "2", "::error::x\n@all"]), max_size=3
)


@given(VARIABLES, VARIABLES)
def test_environment_has_one_line_for_each_variable_that_differs(
    before: dict[str, str], after: dict[str, str]
) -> None:
    """It is said once for all containers; a value of several lines is not printed."""

    def with_environment(values: dict[str, str]) -> Manifest:
        body = deepcopy(runtime().body)
        for job in body["spec"]["template"]["spec"]["replicatedJobs"]:
            for container in job["template"]["spec"]["template"]["spec"]["containers"]:
                container["env"] = [{"name": key, "value": each} for key, each in values.items()]
        return replace(runtime(), body=body)

    lines = described(with_environment(before), with_environment(after))
    differing = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))

    assert [line.split()[1] for line in lines] == differing
    assert all(line.startswith("environment ") and "\n" not in line for line in lines)


def test_other_fields_are_named() -> None:
    """What is neither image nor environment is not silent."""
    body = deepcopy(runtime().body)
    body["spec"]["mlPolicy"]["mpi"]["numProcPerNode"] = 4

    assert described(runtime(), replace(runtime(), body=body)) == (
        "mlPolicy.mpi.numProcPerNode 8 -> 4",
    )


def test_runtime_of_the_wrong_shape_is_described() -> None:
    """A committed file may have been edited by hand."""
    broken = replace(runtime(), body={**runtime().body, "spec": {"template": "none"}})

    assert described(broken, runtime())
