"""Manifests against the schemas of their release: accepted, refused at their place, and never skipped."""

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

from generator.diagnostics import Step, ToolError
from generator.dialect.manifests import parse_manifests
from generator.schema import manifests
from generator.schema.manifests import check_manifest, schema_folder
from generator.schema.shape import ShapeValidator, anchored

RELEASE = "openshift-ai-3.5"
EXAMPLES: list[dict[str, Any]] = parse_manifests(Path(__file__).with_name("examples.yaml").read_text(encoding="utf-8"))


def example(kind: str) -> dict[str, Any]:
    return copy.deepcopy(next(each for each in EXAMPLES if each["kind"] == kind))


@cache
def second_opinion(api_version: str, kind: str) -> Draft7Validator:
    """Return jsonschema's validator of a kind."""
    group, _, version = api_version.rpartition("/")
    path = schema_folder(RELEASE) / (group or version) / f"{kind.lower()}_{version}.json"
    validator: Draft7Validator = ShapeValidator(anchored(json.loads(path.read_bytes())), registry=Registry())
    return validator


def places(node: Any, path: tuple[Step, ...] = ()) -> Iterator[tuple[Step, ...]]:
    """Yield the path of everything inside a manifest but its type, which chooses the schema."""
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for step, child in children:
        if path or step not in {"apiVersion", "kind"}:
            yield (*path, step)
            yield from places(child, (*path, step))


@pytest.mark.parametrize("body", EXAMPLES, ids=lambda body: body["kind"])
def test_check_manifest_accepts_example(body: dict[str, Any]) -> None:
    """A manifest as a cluster took it yields nothing."""
    assert list(check_manifest(RELEASE, body)) == []


def test_examples_cover_every_kind() -> None:
    """Each schema of the release has an example, or nothing is known of it."""
    names = {f"{body['kind'].lower()}_{body['apiVersion'].rpartition('/')[2]}.json" for body in EXAMPLES}
    assert {path.name for path in schema_folder(RELEASE).rglob("*.json")} == names


@pytest.mark.parametrize("body", EXAMPLES, ids=lambda body: body["kind"])
def test_check_manifest_refuses_unknown_field(body: dict[str, Any]) -> None:
    """A field that the API server would drop in silence is told with its path."""
    (fault,) = check_manifest(RELEASE, {**body, "unknwn": 1})
    assert fault == (("unknwn",), "unknown field `unknwn`")


def test_check_manifest_tells_path_as_kubectl_does() -> None:
    """A fault deep in a list is said with fields and indexes, and its path leads there."""
    body = example("ClusterQueue")
    resource = body["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]
    resource["nominalQuta"] = resource.pop("nominalQuota")
    where = ("spec", "resourceGroups", 0, "flavors", 0, "resources", 0)
    text = "spec.resourceGroups[0].flavors[0].resources[0]: "
    assert sorted(check_manifest(RELEASE, body)) == [
        (where, f"{text}missing field `nominalQuota`"),
        ((*where, "nominalQuta"), f"{text}unknown field `nominalQuta`"),
    ]


def test_check_manifest_quotes_keys_with_dots() -> None:
    """A label's key isn't read as a path of its own."""
    body = example("Namespace")
    body["metadata"]["labels"]["example.com/team"] = 7
    ((path, message),) = check_manifest(RELEASE, body)
    assert path == ("metadata", "labels", "example.com/team")
    assert message.startswith('metadata.labels["example.com/team"]: ')


def test_check_manifest_cuts_long_values() -> None:
    """A message doesn't repeat a whole manifest."""
    ((_, message),) = check_manifest(RELEASE, {**example("ConfigMap"), "data": ["x" * 10_000]})
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
def test_check_manifest_never_accepts_unknown_kind(body: dict[str, Any]) -> None:
    """What has no schema is told, not skipped; a kind can't lead out of the schema folder."""
    ((path, message),) = check_manifest(RELEASE, body)
    assert path == ()
    assert message.startswith("no schema for ")


def test_check_manifest_refuses_other_trainer_version() -> None:
    """``runtimePatches`` of Trainer 2.2 would be pruned by 2.1, and the job would start without its flavor."""
    body = example("TrainJob")
    body["spec"]["runtimePatches"] = body["spec"].pop("podTemplateOverrides")
    assert [path for path, _ in check_manifest(RELEASE, body)] == [("spec", "runtimePatches")]


@pytest.mark.parametrize(
    "gang", [{"policy": "ByWorkload"}, {"policy": "None", "byWorkload": {"admission": "Parallel"}}, {"policy": ""}]
)
def test_check_manifest_follows_conditions_of_kueue_operator(gang: dict[str, Any]) -> None:
    """``byWorkload`` is there exactly when the policy asks for it, and no field leaves the choice to the operator."""
    body = example("Kueue")
    body["spec"]["config"]["gangScheduling"] = gang
    assert list(check_manifest(RELEASE, body))


@pytest.mark.parametrize("release", ["openshift-ai-0", "../releases/openshift-ai-3.5", ""])
def test_schema_folder_of_unknown_release_is_broken_tool(release: str) -> None:
    """A release that isn't installed stops the run."""
    with pytest.raises(ToolError, match="no schemas of the release"):
        schema_folder(release)


@pytest.mark.parametrize("text", ["{", '{"type": "nope"}', '{"$ref": "http://192.0.2.1/schema.json"}'])
def test_check_manifest_with_broken_schema_is_broken_tool(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A schema that isn't one, or that lives elsewhere, stops the run; nothing is fetched."""
    folder = tmp_path / "broken" / "schemas" / "v1"
    folder.mkdir(parents=True)
    (folder / "namespace_v1.json").write_text(text, encoding="utf-8")
    monkeypatch.setattr(manifests, "_RELEASES", tmp_path)
    with pytest.raises(ToolError, match=r"broken/schemas/v1/namespace_v1\.json"):
        list(check_manifest("broken", {"apiVersion": "v1", "kind": "Namespace"}))


SCALARS = st.none() | st.booleans() | st.integers(-(10**6), 10**12) | st.text(max_size=6)
NEARLY = st.sampled_from(["", "a", "None", "Any", "4Ti", "4Ti\n", "v1", "x" * 300, "Ä", "0", "1e3", "TRUE"])
PLAIN = st.recursive(SCALARS | NEARLY, lambda each: st.lists(each, max_size=2) | st.dictionaries(NEARLY, each))


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_check_manifest_agrees_with_second_implementation(data: st.DataObject) -> None:
    """Of a manifest with one thing changed, added or taken away, both validators say the same."""
    body = copy.deepcopy(data.draw(st.sampled_from(EXAMPLES)))
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
    valid = second_opinion(body["apiVersion"], body["kind"]).is_valid(body)
    assert (list(check_manifest(RELEASE, body)) == []) is valid
