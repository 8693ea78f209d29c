"""What who keeps the nodes does with pods of teams, without being an administrator."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from trainyard.model.space import Space
from trainyard_rehearsal.checks import account_objects as objects
from trainyard_rehearsal.checks.request_cases import RequestCase
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.lab import Lab

_USER = "node-maintainer@example.com"
_RBAC = "rbac.authorization.k8s.io"
_RIGHTS = (("nodes", ["get", "patch"]), ("pods", ["delete", "get"]), ("pods/eviction", ["create"]))


def rights() -> Iterator[Body]:
    """Yield the role of who drains nodes, in all namespaces."""
    metadata, version = {"name": "rehearsal-nodes"}, f"{_RBAC}/v1"
    rules = [{"apiGroups": [""], "resources": [kind], "verbs": verbs} for kind, verbs in _RIGHTS]
    yield {"apiVersion": version, "kind": "ClusterRole", "metadata": metadata, "rules": rules}
    yield {
        "apiVersion": version,
        "kind": "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", **metadata},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": _USER}],
    }


def maintenance(lab: Lab, space: Space, rank: Body) -> Iterator[RequestCase]:
    """Yield the deletion of a pod whose node is lost, and an eviction with time for a checkpoint.

    Args:
        lab: with those rights.
        space: the namespace of the rank.
        rank: a pod of a job, which has a node.
    """
    maintainer, name = lab.api.acting(_USER, ["system:authenticated"]), rank["metadata"]["name"]
    eviction = objects.eviction(rank, {"gracePeriodSeconds": 120})
    for what, request in (
        ("deleted on a lost node", partial(maintainer.delete, rank, grace=0, dry_run=True)),
        ("drained", partial(maintainer.create, rank, "eviction", eviction, dry_run=True)),
    ):
        yield RequestCase(f"{space.namespace}: {name} {what}", request, space.team.at, "")
