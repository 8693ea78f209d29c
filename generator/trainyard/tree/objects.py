"""The objects of a committed file: those that an API server gets."""

from __future__ import annotations

from typing import Any

from trainyard.schema.manifests import check_committed
from trainyard.tree.conflict import our_side
from trainyard.tree.lockfile import is_marked
from trainyard.yaml_io.manifests import parse_manifests

_INPUTS = {None, "CustomResourceStateMetrics"}
"""Kinds of documents without a version: a fragment has no kind either."""


def comparable(content: bytes) -> list[Any]:
    """Return the objects of a committed file.

    Args:
        content: of the file; of one that Git could not merge, our side counts. Of one that does
            not say any more that it is ours, documents that are not objects are left out.

    Raises:
        ValueError: an object can't be compared.
    """
    content = our_side(content)
    bodies = [body for body in parse_manifests(content.decode()) if not _is_input(body)]
    if not is_marked(content):
        bodies = [body for body in bodies if isinstance(body, dict)]
    for body in bodies:
        if fault := check_committed(body):
            raise ValueError(fault)
    return bodies


def _is_input(document: Any) -> bool:
    """Return whether a document is read by a program: Kustomize, Argo CD, kube-state-metrics."""
    if not isinstance(document, dict):
        return False
    if "apiVersion" not in document and document.get("kind") in _INPUTS:
        return True
    return str(document.get("apiVersion")).startswith("kustomize.config.k8s.io/")
