"""Read the status of Applications of Argo CD."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from trainyard_rehearsal.control_plane.api import Body

REFRESH = "argocd.argoproj.io/refresh"
"""Annotation that makes Argo CD compare with Git now; Argo CD removes it afterwards."""


def is_synced_and_healthy(body: Body, revision: str, health: Collection[str]) -> bool:
    """Return whether an Application is Synced and has one of the given health statuses.

    Args:
        body: an Application.
        revision: that it must be synced with; any when empty.
        health: permitted values of ``status.health.status``.
    """
    status = body.get("status") or {}
    sync = status.get("sync", {})
    done = status.get("operationState", {}).get("phase") == "Succeeded"
    synced = sync.get("status") == "Synced" and revision in {"", revision_of(body)}
    return bool(done and synced and status.get("health", {}).get("status") in health)


def is_refresh_pending(body: Body) -> bool:
    """Return whether Argo CD still has to compare an Application with Git."""
    return REFRESH in body.get("metadata", {}).get("annotations", {})


def is_idle(body: Body) -> bool:
    """Return whether an Application is not in sync and no sync runs.

    Argo CD looks at such an Application again within three minutes. It is Unknown while Argo CD has
    not yet seen its AppProject.
    """
    status = body.get("status") or {}
    running = status.get("operationState", {}).get("phase") == "Running" or "operation" in body
    return status.get("sync", {}).get("status") in {"OutOfSync", "Unknown"} and not running


def is_manual(body: Body) -> bool:
    """Return whether each sync of an Application is started by hand."""
    return "automated" not in body.get("spec", {}).get("syncPolicy", {"automated": {}})


def is_applied(body: Body) -> bool:
    """Return whether a sync of an Application applies objects, and does not only wait for one."""
    state = (body.get("status") or {}).get("operationState", {})
    message = str(state.get("message", ""))
    return state.get("phase") == "Running" and not message.startswith("waiting for")


def revision_of(body: Body) -> str:
    """Return the revision that an Application was compared with."""
    return str((body.get("status") or {}).get("sync", {}).get("revision", ""))


def describe(body: Body) -> str:
    """Return the status, conditions and messages of an Application in one line."""
    if not body:
        return "is not there"
    status = body.get("status") or {}
    parts = [
        status.get("sync", {}).get("status", "no sync"),
        status.get("health", {}).get("status", "no health"),
        *(str(each.get("message", "")) for each in status.get("conditions", [])),
        str(status.get("operationState", {}).get("message", "")),
        *_resource_problems(status),
    ]
    return "; ".join(filter(None, parts))


def _resource_problems(status: Body) -> Iterator[str]:
    """Yield the resources that are not Synced or not Healthy."""
    for each in status.get("resources", []):
        health = each.get("health", {})
        if each.get("status") != "Synced" or health.get("status", "Healthy") != "Healthy":
            name = f"{each['kind']} {each.get('namespace', '')}/{each['name']}"
            state = f"{each.get('status')} {health.get('status', '')}"
            yield f"{name}: {state} {health.get('message', '')}"
