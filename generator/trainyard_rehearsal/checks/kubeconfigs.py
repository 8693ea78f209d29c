"""Kubeconfigs in which the administrator acts as somebody else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from trainyard_rehearsal.control_plane.lab import Lab


def kubeconfig(lab: Lab, name: str, user: str, groups: Sequence[str]) -> Path:
    """Write a kubeconfig of a user, and return its path.

    Args:
        lab: has the administrator's.
        name: of the file.
        user: whom the administrator impersonates.
        groups: of the user.
    """
    config = json.loads(lab.kubeconfig.read_text(encoding="utf-8"))
    config["users"][0]["user"] |= {"as": user, "as-groups": [*groups]}
    path = lab.kubeconfig.with_name(f"{name}.kubeconfig")
    path.write_text(json.dumps(config), encoding="utf-8")
    return path
