"""A control plane that stands, whoever runs it: processes of ours, or a container of kind's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from trainyard_rehearsal.control_plane.api import Api
from trainyard_rehearsal.control_plane.build import Built
from trainyard_rehearsal.control_plane.certificates import Certificates
from trainyard_rehearsal.control_plane.processes import Processes

ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where controllers run beside an API server that answers.

    Args:
        folder: of this run.
        processes: the controllers, and whatever else of it is ours.
        server: address of the API server.
        authority: certificate that vouches for it.
        admin: its administrator, as the user of a kubeconfig.
        address: this machine as the API server sees it; webhooks listen there.
        certificates: of the webhooks.
    """

    folder: Path
    built: Built
    processes: Processes
    server: str
    authority: Path
    admin: Mapping[str, str]
    address: str
    certificates: Certificates

    def api(self) -> Api:
        """Return the API as its administrator sees it."""
        return Api(self.server, self.authority, self.admin)

    def kubeconfig(self, name: str) -> Path:
        """Return where the kubeconfig of a user stands."""
        return self.folder / f"{name}.kubeconfig"

    def write_kubeconfig(self, name: str, user: Mapping[str, str]) -> None:
        """Let a user in: ``token``, or ``client-certificate`` and ``client-key``."""
        cluster = {"server": self.server, "certificate-authority": str(self.authority)}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [{"name": "rehearsal", "cluster": cluster}],
            "users": [{"name": name, "user": dict(user)}],
            "contexts": [{"name": name, "context": {"cluster": "rehearsal", "user": name}}],
        }
        self.kubeconfig(name).write_text(json.dumps(config), encoding="utf-8")


class ControlPlane(Protocol):
    """Who runs etcd, the API server and Kubernetes' own controllers."""

    def running(self, built: Built, folder: Path) -> AbstractContextManager[Endpoint]:
        """Have an API server that answers its administrator, and end it whatever happens.

        Args:
            built: the release's programs.
            folder: of this run, ours alone and empty.

        Raises:
            ToolError: something does not start; its last words are told.
        """

    def start_controllers(self, place: Endpoint) -> None:
        """Have Kubernetes' own controllers act, and nothing besides, once all kinds are served.

        Raises:
            ToolError: one can't be started.
        """
