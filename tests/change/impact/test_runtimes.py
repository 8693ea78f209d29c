"""Runtimes on both sides of a change, and who may use them."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.change.impact.platforms import CLUSTER, NLP, RUNTIME, VISION, objects, sides, site
from trainyard.change.impact.objects import object_changes
from trainyard.change.impact.runtimes import described, runtime_changes
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
    """Return change, details and namespaces."""
    found = runtime_changes(sides(before, after))
    return [(each.change, each.details, each.spaces) for each in found]


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({}, {RUNTIME: {"docs": "https://docs.example.com/other"}}, []),
        ({}, {RUNTIME: {"image": IMAGE}}, [("changed", (EDIT,), BOTH)]),
        (
            {},
            {RUNTIME: {"version": 2, "image": IMAGE}},
            [("retired", ("version 2 takes its place",), BOTH), ("added", (EDIT,), BOTH)],
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
            [("added", (), ("vision",)), ("retired", ("no longer listed",), ("nlp",))],
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

    assert (change.runtime, change.nodes) == ("torchrun-v1", ("dgx-h100",))
    assert change.objects == ("torchrun-v1-dgx-h100",)
    assert (change.change, change.spaces) == ("retired", ("nlp",))


SMALL = {
    "hardware/small.yaml": {"extends": "nvidia-dgx-h100"},
    CLUSTER: {"pools": {"small": {"hardware": "small", "nodes": 3, "fabric": "ib"}}},
    RUNTIME: {"hardware": ["dgx-h100", "small"]},
}


def on_small(nodes: int) -> dict[str, Any]:
    pools = {"dgx-h100": {"nodes": 3}, "small": {"nodes": nodes}}
    return {**SMALL, NLP: {"quota": {"prod-east": pools}, "largestJob": {"nodes": 3}}}


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (on_small(0), "no quota on such nodes any more"),
        (on_small(1), "a job needs at least 2 nodes, and the largest here has 1"),
        (
            {**on_small(3), RUNTIME: {"hardware": ["dgx-h100"]}},
            "the runtime no longer names such nodes",
        ),
    ],
)
def test_listed_runtime_that_leaves_some_nodes_says_why(after: dict[str, Any], reason: str) -> None:
    """It stays on the others; the object has the same reason, and a revert gives it back."""
    both = sides(on_small(3), after)
    (lost,) = runtime_changes(both)
    assert (lost.change, lost.nodes, lost.spaces) == ("retired", ("small",), ("nlp",))
    assert lost.details == (reason,)
    (gone,) = (
        each
        for each in object_changes(both)
        if each.identity.kind == "ClusterTrainingRuntime" and each.change == "deleted"
    )
    assert gone.reason == f"{reason} (nlp)"

    (back,) = runtime_changes(sides(after, on_small(3)))
    assert (back.change, back.nodes, back.details) == ("added", ("small",), ())


def test_share_of_another_size_is_no_other_runtime() -> None:
    def share(gpus: int) -> dict[str, Any]:
        quota = {"prod-east": {"dgx-h100": {"nodes": None, "gpus": gpus}}}
        return {NLP: {"quota": quota, "largestJob": None}}

    (change,) = runtime_changes(sides(share(4), share(6)))
    assert change.change == "changed"
    assert change.details[:2] == (
        "jobs name it openmpi-cuda-v1-dgx-h100-2gpu -> openmpi-cuda-v1-dgx-h100-3gpu",
        "a pod has 2 GPUs -> 3 GPUs",
    )


def test_deprecation_names_only_who_stays_on_the_version() -> None:
    first = {**TORCHRUN, "version": 1}
    listed = {
        SECOND: first,
        NLP: {"runtimes": ["openmpi-cuda", "torchrun"]},
        VISION: {"runtimes": ["openmpi-cuda", "torchrun"]},
    }
    beside = {
        **listed,
        SECOND: {**TORCHRUN, "version": 2},
        "runtimes/torchrun-v1.yaml": {**first, "deprecated": {"end": "2027-03-31"}},
        VISION: {"runtimes": ["openmpi-cuda", "torchrun-v1"]},
    }
    found = {
        (each.runtime, each.change): each.spaces for each in runtime_changes(sides(listed, beside))
    }
    assert found == {
        ("torchrun-v1", "deprecated until 2027-03-31"): ("vision",),
        ("torchrun-v1", "retired"): ("nlp",),
        ("torchrun-v2", "added"): ("nlp",),
    }


def test_new_or_removed_namespace_of_a_team_changes_no_runtime() -> None:
    """Its team may use them as before."""
    more: dict[str, Any] = {NLP: {"spaces": {"debug": {}}}}
    assert changes({}, more) == []
    assert changes(more, {}) == []


def test_objects_of_a_removed_namespace_go_with_it() -> None:
    gone = object_changes(sides({NLP: {"spaces": {"debug": {}}}}, {}))
    reasons = {each.reason.partition(";")[0] for each in gone if each.change != "changed"}
    assert reasons == {"namespace removed"}


def test_renamed_team_keeps_its_runtimes() -> None:
    both = sides({}, {})
    after = {
        key: _labelled(each, "language") if key.name == "trainjob-limits-nlp" else each
        for key, each in both.after.items()
    }
    assert runtime_changes(replace(both, after=after, renamed={"nlp": "language"})) == ()


def _labelled(limits: Manifest, team: str) -> Manifest:
    metadata = {
        **limits.body["metadata"],
        "name": f"trainjob-limits-{team}",
        "labels": {"ml.example.com/team": team},
    }
    return replace(limits, body={**limits.body, "metadata": metadata})


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
