"""Wait until a new role is in force."""

from __future__ import annotations

from trainyard_rehearsal.control_plane.api import Api
from trainyard_rehearsal.control_plane.lab import Lab

_PATIENCE = 60.0


def wait_until_permitted(
    lab: Lab, user: Api, verb: str, resource: str, namespace: str = ""
) -> None:
    """Wait until a user has a right; the API server's authorizer learns of a binding by a watch.

    Args:
        lab: with the binding.
        user: the API for that user.
        verb: e.g. ``create``.
        resource: its plural, with its group behind a dot, e.g. ``jobs.batch``.
        namespace: where the user has the right; everywhere if empty.

    Raises:
        ToolError: the user does not get it in a minute.
    """
    plural, _, group = resource.partition(".")
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "metadata": {},
        "spec": {
            "resourceAttributes": {
                "verb": verb,
                "resource": plural,
                "group": group,
                "namespace": namespace,
            }
        },
    }
    lab.processes.wait_until(
        lambda: bool(user.create(review).body["status"]["allowed"]),
        f"the right to {verb} {resource} for a user of the rehearsal",
        _PATIENCE,
    )
