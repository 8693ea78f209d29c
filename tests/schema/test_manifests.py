"""Manifests against the schemas of their release."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from referencing import Registry

from trainyard.diagnostics import Step, ToolError
from trainyard.model.release import Schemas
from trainyard.profiles.read import releases
from trainyard.schema.manifests import check_manifest, schema_folder
from trainyard.schema.shape import anchored
from trainyard.yaml_io.manifests import parse_manifests

RELEASE = "openshift-ai-3.5"
KUBERNETES = "kubernetes-1.36"


def examples(name: str) -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = parse_manifests(
        Path(__file__).with_name(name).read_text(encoding="utf-8")
    )
    return read


def schema_path(release: str, body: dict[str, Any]) -> Path:
    group, _, version = str(body["apiVersion"]).rpartition("/")
    return schema_folder(release) / (group or version) / f"{body['kind'].lower()}_{version}.json"


def examples_of(release: str) -> list[dict[str, Any]]:
    """Return one example of each kind of a release, in the form that its features give it."""
    features = sorted(releases()[release].value["features"])
    names = [f"examples-{feature}.yaml" for feature in features]
    own = [
        each
        for name in names
        if Path(__file__).with_name(name).is_file()
        for each in examples(name)
    ]
    kinds = {each["kind"] for each in own}
    return own + [
        each
        for each in EXAMPLES
        if each["kind"] not in kinds and schema_path(release, each).is_file()
    ]


EXAMPLES = examples("examples.yaml")
RELEASES = sorted(releases())
CASES = [(release, each) for release in RELEASES for each in examples_of(release)]


def example(kind: str, among: list[dict[str, Any]] = EXAMPLES) -> dict[str, Any]:
    return copy.deepcopy(next(each for each in among if each["kind"] == kind))


def case_id(value: Any) -> str:
    return value if isinstance(value, str) else str(value["kind"])


@cache
def second_opinion(path: Path) -> Draft7Validator:
    """Return jsonschema's validator of a kind."""
    return Draft7Validator(anchored(json.loads(path.read_bytes())), registry=Registry())


def places(node: Any, path: tuple[Step, ...] = ()) -> Iterator[tuple[Step, ...]]:
    """Yield the path of everything in a manifest except its type, which selects the schema."""
    children = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for step, child in children:
        if path or step not in {"apiVersion", "kind"}:
            yield (*path, step)
            yield from places(child, (*path, step))


@pytest.mark.parametrize(("release", "body"), CASES, ids=case_id)
def test_example_of_each_kind_is_valid(release: str, body: dict[str, Any]) -> None:
    assert list(check_manifest(Schemas(release), body)) == []


@pytest.mark.parametrize("release", RELEASES)
def test_each_schema_of_a_release_has_an_example(release: str) -> None:
    covered = {schema_path(release, body) for each, body in CASES if each == release}
    assert set(schema_folder(release).rglob("*.json")) == covered


@pytest.mark.parametrize(("release", "body"), CASES, ids=case_id)
def test_unknown_field_is_refused(release: str, body: dict[str, Any]) -> None:
    """The API server would silently drop it."""
    (fault,) = check_manifest(Schemas(release), {**body, "unknwn": 1})
    assert fault == (("unknwn",), "unknown field `unknwn`")


def test_message_has_the_path_as_kubectl_writes_it() -> None:
    body = example("ClusterQueue")
    resource = body["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]
    resource["nominalQuta"] = resource.pop("nominalQuota")
    where = ("spec", "resourceGroups", 0, "flavors", 0, "resources", 0)
    text = "spec.resourceGroups[0].flavors[0].resources[0]: "
    unknown = "unknown field `nominalQuta`: did you mean `nominalQuota`?"
    assert sorted(check_manifest(Schemas(RELEASE), body)) == [
        (where, f"{text}missing field `nominalQuota`"),
        ((*where, "nominalQuta"), f"{text}{unknown}"),
    ]


def test_keys_with_dots_are_quoted_in_a_path() -> None:
    body = example("Namespace")
    body["metadata"]["labels"]["example.com/team"] = 7
    ((path, message),) = check_manifest(Schemas(RELEASE), body)
    assert path == ("metadata", "labels", "example.com/team")
    assert message.startswith('metadata.labels["example.com/team"]: ')


def test_message_cuts_long_values() -> None:
    ((_, message),) = check_manifest(
        Schemas(RELEASE), {**example("ConfigMap"), "data": ["x" * 10_000]}
    )
    assert len(message) < 400


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"apiVersion": "v1", "kind": "Pod"},
        {"apiVersion": "v1", "kind": ["Namespace"]},
        {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue"},
        {"apiVersion": "../schemas/v1", "kind": "Namespace"},
        {"apiVersion": "v1", "kind": "../v1/namespace"},
    ],
)
def test_unknown_kind_is_refused(body: dict[str, Any]) -> None:
    """A kind without a schema is not skipped, and can't lead out of the schema folder."""
    ((path, message),) = check_manifest(Schemas(RELEASE), body)
    assert path == ()
    assert message.startswith("no schema for ")


def test_fields_of_another_trainer_version_are_refused() -> None:
    """Trainer 2.1 would prune the `runtimePatches` of 2.2, and start the job without its flavor."""
    body = example("TrainJob")
    body["spec"]["runtimePatches"] = body["spec"].pop("podTemplateOverrides")
    assert [path for path, _ in check_manifest(Schemas(RELEASE), body)] == [
        ("spec", "runtimePatches")
    ]
    assert [path for path, _ in check_manifest(Schemas(KUBERNETES), example("TrainJob"))] == [
        ("spec", "podTemplateOverrides")
    ]


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        # A list that is left empty would match every namespace.
        ("Policy", {"rules": [{"level": "Metadata", "namespaces": []}]}),
        # kube-apiserver 1.34 doesn't start with this group, and no version knows a version in it.
        ("Policy", {"rules": [{"level": "Metadata", "resources": [{"group": "*"}]}]}),
        (
            "Policy",
            {"rules": [{"level": "Metadata", "resources": [{"group": "kueue.x-k8s.io/v1beta2"}]}]},
        ),
        (
            "Policy",
            {"rules": [{"level": "Metadata", "nonResourceURLs": ["/x"], "namespaces": ["a"]}]},
        ),
        (
            "Policy",
            {
                "rules": [
                    {"level": "Metadata", "resources": [{"group": "", "resourceNames": ["a"]}]}
                ]
            },
        ),
        # Kueue reads nanoseconds here, and doesn't start with a text.
        ("Configuration", {"controller": {"cacheSyncTimeout": "2m"}}),
        ("Configuration", {"fairSharing": {"enable": True}}),
        ("Configuration", {"fairSharing": {"preemptionStrategies": ["LessThanInitialShare"] * 2}}),
        ("Configuration", {"metrics": {"localQueueMetrics": {}}}),
        (
            "Configuration",
            {
                "resources": {
                    "quotaCheckStrategy": "IgnoreUndeclared",
                    "excludeResourcePrefixes": ["a/"],
                }
            },
        ),
        ("Configuration", {"waitForPodsReady": {"enable": True}}),
        ("KubeletConfiguration", {"cpuManagerPolicy": "Static"}),
        ("KubeletConfiguration", {"memoryManagerPolicy": "static"}),
        (
            "KubeletConfiguration",
            {"reservedSystemCPUs": "0-3", "kubeReservedCgroup": "/kube.slice"},
        ),
        ("KubeletConfiguration", {"systemReserved": {"hugepages-1Gi": "1Gi"}}),
        ("KubeletConfiguration", {"systemReserved": {"cpu": 1}}),
        ("KubeletConfiguration", {"cpuManagerPolicyOptions": {"full-pcpus-only": True}}),
    ],
)
def test_fault_in_a_configuration_file_is_refused(kind: str, change: dict[str, Any]) -> None:
    """No API server checks files: a mistake stops or misleads the program that reads them."""
    body = {**example(kind, examples_of(KUBERNETES)), **change}
    assert list(check_manifest(Schemas(KUBERNETES), body))


@pytest.mark.parametrize(
    "gang",
    [
        {"policy": "ByWorkload"},
        {"policy": "None", "byWorkload": {"admission": "Parallel"}},
        {"policy": ""},
    ],
)
def test_conditions_of_the_kueue_operator_hold(gang: dict[str, Any]) -> None:
    """`byWorkload` is present exactly when the policy asks for it; the operator chooses nothing."""
    body = example("Kueue")
    body["spec"]["config"]["gangScheduling"] = gang
    assert list(check_manifest(Schemas(RELEASE), body))


@pytest.mark.parametrize("release", ["openshift-ai-0", "../releases/openshift-ai-3.5", ""])
def test_unknown_release_is_a_tool_error(release: str) -> None:
    with pytest.raises(ToolError, match="no schemas of the release"):
        schema_folder(release)


SCALARS = st.none() | st.booleans() | st.integers(-(10**6), 10**12) | st.text(max_size=6)
NEARLY = st.sampled_from(
    ["", "a", "None", "Any", "4Ti", "4Ti\n", "v1", "x" * 300, "Ä", "0", "1e3", "TRUE"]
)
PLAIN = st.recursive(
    SCALARS | NEARLY, lambda each: st.lists(each, max_size=2) | st.dictionaries(NEARLY, each)
)


@pytest.mark.thorough
@given(st.data())
@settings(deadline=None, max_examples=200)
def test_check_manifest_agrees_with_second_implementation(data: st.DataObject) -> None:
    """With one thing changed, added or removed, both validators give the same answer."""
    release, original = data.draw(st.sampled_from(CASES))
    body = copy.deepcopy(original)
    *above, last = data.draw(st.sampled_from(list(places(body))))
    node: Any = body
    for step in above:
        node = node[step]
    change = data.draw(st.sampled_from(["replace", "delete", "add"]))
    if change == "replace":
        node[last] = data.draw(PLAIN)
    elif change == "delete":
        del node[last]
    elif isinstance(node, dict):
        node[data.draw(NEARLY)] = data.draw(PLAIN)
    valid = second_opinion(schema_path(release, original)).is_valid(body)
    assert (list(check_manifest(Schemas(release), body)) == []) is valid
