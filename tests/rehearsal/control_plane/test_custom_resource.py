from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.conftest import REPOSITORY
from trainyard_rehearsal.control_plane.custom_resource import custom_resource, mpi_jobs

_KUEUE = REPOSITORY / "generator/trainyard/releases/handwritten/kueue.openshift.io/kueue_v1.json"
_STRUCTURAL = {
    *("additionalProperties", "enum", "format", "items", "maximum", "maxLength"),
    *("minimum", "minLength", "pattern", "properties", "type"),
}


def _made() -> dict[str, Any]:
    return custom_resource(
        "kueue.openshift.io",
        "v1",
        "Kueue",
        "kueues",
        json.loads(_KUEUE.read_text(encoding="utf-8")),
    )


def _schemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for each in [
        *schema.get("properties", {}).values(),
        *([schema["items"]] if "items" in schema else []),
    ]:
        yield from _schemas(each)


def test_definition_names_the_kind() -> None:
    """The kind has the same path as the operator's own definition."""
    made = _made()
    assert made["metadata"]["name"] == "kueues.kueue.openshift.io"
    assert made["spec"]["names"] == {
        "kind": "Kueue",
        "listKind": "KueueList",
        "plural": "kueues",
        "singular": "kueue",
    }
    assert [
        (each["name"], each["served"], each["storage"]) for each in made["spec"]["versions"]
    ] == [("v1", True, True)]


def test_schema_is_structural() -> None:
    """Every field has a type and only permitted keywords; common fields are left out."""
    schema = _made()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    every = list(_schemas(schema))

    assert set(schema["properties"]) == {"spec", "status"}
    every.remove(schema["properties"]["status"])
    assert all(each.keys() <= _STRUCTURAL and "type" in each for each in every)
    assert len(every) > 15


def test_fields_and_values_are_kept() -> None:
    """Fields, enumerations and lengths are our schema's; a constant is an enumeration of one."""
    config = _made()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"][
        "properties"
    ]["config"]
    assert config["properties"]["preemption"]["properties"]["preemptionPolicy"] == {
        "enum": ["Classical", "FairSharing"],
        "type": "string",
    }
    key = config["properties"]["integrations"]["properties"]["labelKeysToCopy"]["items"][
        "properties"
    ]["key"]
    assert key == {"type": "string", "minLength": 1, "maxLength": 317}
    schema = {
        "properties": {
            "mode": {"const": "on"},
            "labels": {"type": "object", "additionalProperties": {"enum": ["a"]}},
        }
    }
    fields = custom_resource("g", "v1", "X", "xs", schema)["spec"]["versions"][0]["schema"][
        "openAPIV3Schema"
    ]["properties"]
    assert fields == {
        "mode": {"enum": ["on"], "type": "string"},
        "labels": {"type": "object", "additionalProperties": {"enum": ["a"], "type": "string"}},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    }


def test_status_is_a_subresource() -> None:
    """The operator, or the rehearsal in its place, writes any status."""
    (version,) = _made()["spec"]["versions"]
    assert version["subresources"] == {"status": {}}


def test_mpi_jobs_are_served_in_namespaces_with_any_field() -> None:
    """A quota that counts a kind which nobody serves is never ready."""
    spec = mpi_jobs()["spec"]
    (version,) = spec["versions"]
    fields = version["schema"]["openAPIV3Schema"]["properties"]

    assert (spec["group"], version["name"], spec["scope"]) == (
        "kubeflow.org",
        "v2beta1",
        "Namespaced",
    )
    assert fields["spec"] == fields["status"]
    assert fields["spec"]["x-kubernetes-preserve-unknown-fields"]


def test_kind_with_a_namespace_is_namespaced() -> None:
    """A schema says so by what it requires; else the objects of teams had no place."""
    schema = {"properties": {"metadata": {"required": ["name", "namespace"]}, "spec": {}}}
    made = custom_resource("resource.nvidia.com", "v1beta1", "ComputeDomain", "domains", schema)

    assert (made["spec"]["scope"], _made()["spec"]["scope"]) == ("Namespaced", "Cluster")
