"""Metadata that steers a controller, and that no tenant may write on anything."""

from __future__ import annotations

from trainyard_rehearsal.control_plane.api import Body

FINALIZER = "metadata.finalizers can't be added"
OWNER = "metadata.ownerReferences"
DELIVERY = "keys of argocd.argoproj.io can't be changed"

_OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u"}
STEERING: tuple[tuple[Body, str], ...] = (
    ({"finalizers": ["example.com/hold"]}, FINALIZER),
    ({"finalizers": ["foregroundDeletion"]}, FINALIZER),
    ({"ownerReferences": [_OWNER]}, OWNER),
    ({"ownerReferences": [{**_OWNER, "controller": True, "blockOwnerDeletion": True}]}, OWNER),
    (
        {"annotations": {"argocd.argoproj.io/tracking-id": "lab-team-nlp:/ConfigMap:team-nlp/x"}},
        DELIVERY,
    ),
    ({"annotations": {"argocd.argoproj.io/sync-options": "Prune=confirm"}}, DELIVERY),
    ({"labels": {"argocd.argoproj.io/instance": "x"}}, DELIVERY),
)
"""Metadata that each was seen to keep nodes, or a sync, for ever
(docs/explanation/isolation.md)."""
