"""Compare what objects of the cluster hold, without metadata and status."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from trainyard.model.manifest import Manifest
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Failure


def contents(lab: Lab, manifests: Iterable[Manifest]) -> dict[str, Body]:
    """Return objects of the cluster by path, without metadata and status; empty if missing."""
    return {manifest.path: _content(lab, manifest) for manifest in manifests}


def differences(
    lab: Lab, manifests: Sequence[Manifest], before: Mapping[str, Body], words: str
) -> list[Failure]:
    """Return a failure for each object whose content differs from before."""
    now = contents(lab, manifests)
    return [
        Failure(manifest.path, words, manifest.at)
        for manifest in manifests
        if now[manifest.path] != before[manifest.path]
    ]


def _content(lab: Lab, manifest: Manifest) -> Body:
    body = lab.api.find(
        manifest.body["apiVersion"], manifest.kind.name, manifest.name, manifest.namespace
    )
    return {field: value for field, value in body.items() if field not in {"metadata", "status"}}
