"""CustomResourceDefinitions for kinds whose own is in no module of the release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard_rehearsal.control_plane.api import Body

_KEPT = ("enum", "format", "maximum", "maxLength", "minimum", "minLength", "pattern", "type")
_ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_ENVELOPE = {"apiVersion", "kind", "metadata"}


def custom_resource(
    group: str, version: str, kind: str, plural: str, schema: Mapping[str, Any]
) -> Body:
    """Return the definition of a kind, as far as a structural schema can express it.

    Strict field validation refuses unknown fields; conditions between fields are left out.
    """
    properties = schema["properties"].items()
    fields = {key: _structural(each) for key, each in properties if key not in _ENVELOPE}
    metadata = schema["properties"].get("metadata", {})
    is_namespaced = "namespace" in metadata.get("required", ())
    scope = "Namespaced" if is_namespaced else "Cluster"
    return _definition(group, kind, plural, scope, _version(version, fields))


def mpi_jobs() -> Body:
    """Return the definition of MPIJobs, with any field: no MPI operator runs in a rehearsal."""
    version = _version("v2beta1", {"spec": _ANY})
    return _definition("kubeflow.org", "MPIJob", "mpijobs", "Namespaced", version)


def of_operators() -> Iterator[Body]:
    """Yield definitions of kinds that operators obey, with any field: none of these runs here."""
    any_field = {"spec": _ANY}
    for group in ("nfd.k8s-sigs.io", "nfd.openshift.io"):
        version = _version("v1alpha1", any_field)
        yield _definition(group, "NodeFeature", "nodefeatures", "Namespaced", version)
    version, name = _version("v1alpha1", any_field), "SelfNodeRemediation"
    group = "self-node-remediation.medik8s.io"
    yield _definition(group, name, f"{name.lower()}s", "Namespaced", version)
    for group, name in (("monitoring.rhobs", "MonitoringStack"), ("kiali.io", "Kiali")):
        yield _definition(group, name, f"{name.lower()}s", "Namespaced", version)
    version = _version("v1beta1", any_field)
    for group, name in (
        ("operator.authorino.kuadrant.io", "Authorino"),
        ("kuadrant.io", "Kuadrant"),
        ("kubeflow.org", "Trial"),
        ("argoproj.io", "ArgoCD"),
        ("argoproj.io", "NamespaceManagement"),
        ("pipelines.kubeflow.org", "PipelineVersion"),
    ):
        yield _definition(group, name, f"{name.lower()}s", "Namespaced", version)
    version = _version("v1alpha1", any_field)
    yield _definition("argoproj.io", "Workflow", "workflows", "Namespaced", version)
    version = _version("v1", any_field)
    for group, name in (
        ("k8s.ovn.org", "UserDefinedNetwork"),
        ("sriovnetwork.openshift.io", "SriovIBNetwork"),
    ):
        yield _definition(group, name, f"{name.lower()}s", "Namespaced", version)


def _definition(group: str, kind: str, plural: str, scope: str, version: Body) -> Body:
    names = {
        "kind": kind,
        "listKind": f"{kind}List",
        "plural": plural,
        "singular": kind.lower(),
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "scope": scope, "names": names, "versions": [version]},
    }


def _version(name: str, fields: Body) -> Body:
    whole = {"type": "object", "properties": fields | {"status": _ANY}}
    return {
        "name": name,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": whole},
        "subresources": {"status": {}},
    }


def _structural(schema: Mapping[str, Any]) -> Body:
    """Return the parts of a JSON Schema that a structural schema may have (KEP-1693)."""
    kept = {key: value for key, value in schema.items() if key in _KEPT}
    if "const" in schema:
        kept["enum"] = [schema["const"]]
    if "properties" in schema:
        properties = schema["properties"].items()
        kept["properties"] = {name: _structural(each) for name, each in properties}
    elif isinstance(schema.get("additionalProperties"), dict):
        kept["additionalProperties"] = _structural(schema["additionalProperties"])
    if "items" in schema:
        kept["items"] = _structural(schema["items"])
    kept.setdefault("type", _type_of(kept))
    return kept


def _type_of(schema: Body) -> str:
    if "items" in schema:
        return "array"
    return "object" if "properties" in schema else "string"
