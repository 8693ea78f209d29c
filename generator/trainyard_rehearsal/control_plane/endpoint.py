"""A running control plane, of local processes or of kind's container."""

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
    """An API server that answers, and the processes that run beside it.

    Args:
        folder: folder of this run.
        processes: the controllers and all other local processes.
        server: URL of the API server.
        authority: file with the certificate of its authority.
        admin: its administrator, as the user of a kubeconfig.
        address: address of this machine for the API server; webhooks listen there.
        certificates: certificates of the webhooks.
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
        """Return the administrator's client."""
        return Api(self.server, self.authority, self.admin)

    def kubeconfig(self, name: str) -> Path:
        """Return the path of a user's kubeconfig."""
        return self.folder / f"{name}.kubeconfig"

    def write_kubeconfig(self, name: str, user: Mapping[str, str]) -> None:
        """Write a user's kubeconfig: ``token``, or ``client-certificate`` and ``client-key``."""
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
    """Runs etcd, the API server and Kubernetes' own controllers."""

    def running(
        self, built: Built, folder: Path, policy: Path | None, /
    ) -> AbstractContextManager[Endpoint]:
        """Run an API server that answers its administrator, and end it on any exit.

        Args:
            built: the release's programs.
            folder: empty folder of this run, used by nothing else.
            policy: audit policy of the API server, where it takes one.

        Raises:
            ToolError: a program does not start; the message has the end of its log.
        """

    def start_controllers(self, endpoint: Endpoint) -> None:
        """Start Kubernetes' own controllers, and no others, after all kinds are served.

        Raises:
            ToolError: a controller can't be started.
        """
