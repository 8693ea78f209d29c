"""Metadata that controllers act on, and that no team may write to any object."""

from __future__ import annotations

from trainyard_rehearsal.checks.refusals import DELIVERY, FINALIZER, OWNER, PROGRESS
from trainyard_rehearsal.control_plane.api import Body

_OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u"}
FORBIDDEN_METADATA: tuple[tuple[Body, str], ...] = (
    ({"finalizers": ["example.com/hold"]}, FINALIZER),
    ({"finalizers": ["foregroundDeletion"]}, FINALIZER),
    ({"ownerReferences": [_OWNER]}, OWNER),
    # The API server may refuse it before a policy does.
    ({"ownerReferences": [{**_OWNER, "blockOwnerDeletion": True}]}, "ownerReference"),
    (
        {"annotations": {"argocd.argoproj.io/tracking-id": "lab-team-nlp:/ConfigMap:team-nlp/x"}},
        DELIVERY,
    ),
    ({"annotations": {"argocd.argoproj.io/sync-options": "Prune=confirm"}}, DELIVERY),
    ({"labels": {"argocd.argoproj.io/instance": "x"}}, DELIVERY),
    ({"labels": {"argocd.argoproj.io/instance": ""}}, DELIVERY),
    ({"annotations": {"argocd.argoproj.io/sync-options": ""}}, DELIVERY),
)
"""Each of these kept nodes, or a sync, permanently when it was accepted
(docs/explanation/isolation.md)."""

TRAINER_METADATA: tuple[tuple[Body, str], ...] = tuple(
    ({"annotations": {f"trainer.opendatahub.io/{key}": value}}, PROGRESS)
    for key, value in (
        ("metrics-port", "x@10.1.2.3:28080/metrics?"),
        ("metrics-port", "99999"),
        ("progression-tracking", "true"),
    )
)
"""Red Hat's Trainer sends requests to where the first says, and to where a job answers."""
