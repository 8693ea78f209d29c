"""Hand-written components, added to the base platform."""

from __future__ import annotations

from typing import Any

KUSTOMIZATION = {
    "apiVersion": "kustomize.config.k8s.io/v1alpha1",
    "kind": "Component",
    "resources": ["a.yaml"],
}


def component(body: dict[str, Any], *teams: str) -> dict[str, Any]:
    """Return changes: a component with one object, and the teams that list it."""
    return {
        "components/extra/kustomization.yaml": KUSTOMIZATION,
        "components/extra/a.yaml": body,
        **{f"teams/{team}.yaml": {"components": ["extra"]} for team in teams},
    }


def config_map(**metadata: Any) -> dict[str, Any]:
    """Return an object that a component of team nlp may hold, with more in its metadata."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "it", "namespace": "team-nlp", **metadata},
    }


def external_secret(**spec: Any) -> dict[str, Any]:
    """Return an ExternalSecret of team nlp out of the base's store for all namespaces."""
    store = {"kind": "ClusterSecretStore", "name": "vault"}
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {"name": "it", "namespace": "team-nlp"},
        "spec": {"secretStoreRef": store, **spec},
    }
