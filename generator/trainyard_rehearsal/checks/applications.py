"""What an Application of Argo CD says of itself."""

from __future__ import annotations

from collections.abc import Collection

from trainyard_rehearsal.control_plane.api import Body

REFRESH = "argocd.argoproj.io/refresh"
"""Annotation that has Argo CD look at Git now; it takes it away when it has."""


def is_fine(body: Body, revision: str, health: Collection[str]) -> bool:
    """Tell whether an Application is Synced, with a revision if one is said, and has one of some healths."""
    status = body.get("status") or {}
    sync = status.get("sync", {})
    done = status.get("operationState", {}).get("phase") == "Succeeded"
    synced = sync.get("status") == "Synced" and revision in {"", revision_of(body)}
    return bool(done and synced and status.get("health", {}).get("status") in health)


def is_asked(body: Body) -> bool:
    """Tell whether an Application is still to look at Git."""
    return REFRESH in body.get("metadata", {}).get("annotations", {})


def is_idle(body: Body) -> bool:
    """Tell whether an Application differs from Git and nobody works on it: Argo CD looks again within three minutes."""
    status = body.get("status") or {}
    running = status.get("operationState", {}).get("phase") == "Running" or "operation" in body
    return status.get("sync", {}).get("status") == "OutOfSync" and not running


def is_manual(body: Body) -> bool:
    """Tell whether somebody has to start each sync of an Application."""
    return "automated" not in body.get("spec", {}).get("syncPolicy", {"automated": {}})


def is_applied(body: Body) -> bool:
    """Tell whether Argo CD applies an Application's objects now, and does not only wait for one of them."""
    state = (body.get("status") or {}).get("operationState", {})
    return state.get("phase") == "Running" and not str(state.get("message", "")).startswith(
        "waiting for"
    )


def revision_of(body: Body) -> str:
    """Return what an Application was compared with."""
    return str((body.get("status") or {}).get("sync", {}).get("revision", ""))


def told_by(body: Body) -> str:
    """Return what an Application says of itself."""
    if not body:
        return "is not there"
    status = body.get("status") or {}
    said = [
        status.get("sync", {}).get("status", "no sync"),
        status.get("health", {}).get("status", "no health"),
    ]
    said += [str(each.get("message", "")) for each in status.get("conditions", [])]
    said.append(str(status.get("operationState", {}).get("message", "")))
    for each in status.get("resources", []):
        health = each.get("health", {})
        if each.get("status") != "Synced" or health.get("status", "Healthy") != "Healthy":
            name = f"{each['kind']} {each.get('namespace', '')}/{each['name']}"
            said.append(
                f"{name}: {each.get('status')} {health.get('status', '')} "
                f"{health.get('message', '')}"
            )
    return "; ".join(filter(None, said))
