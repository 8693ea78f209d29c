"""kind: a container runs the API server and Kubernetes' own controllers."""

from __future__ import annotations

import base64
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from trainyard import programs
from trainyard.diagnostics import ToolError
from trainyard.yaml_io.emitter import emit
from trainyard.yaml_io.manifests import parse_manifests
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.build import Built
from trainyard_rehearsal.control_plane.certificates import write_certificates
from trainyard_rehearsal.control_plane.endpoint import ADMIN, Endpoint
from trainyard_rehearsal.control_plane.processes import LOGS, LOOPBACK, START, Processes

_PROVIDER = {"KIND_EXPERIMENTAL_PROVIDER": "docker"}
"""kind would try other providers too, whose networks can't reach this machine."""

_ADDONS = {"Deployment": "apps/v1", "StorageClass": "storage.k8s.io/v1"}
"""Objects that kind adds to Kubernetes.

CoreDNS would use CPU of the tree's nodes, and claims would get a class that no profile names.
"""

_PROBE = 5
"""Seconds within which a container reaches its own machine."""


def need_engine() -> None:
    """Check that a Docker engine answers.

    Raises:
        ToolError: no engine answers.
    """
    try:
        _docker("version", "--format", "{{.Server.Version}}")
    except ToolError as error:
        raise ToolError(
            f"`--on kind` needs a Docker engine; without `--on kind` none is needed. {error}"
        ) from None


@dataclass(frozen=True, slots=True)
class KindCluster:
    """Runs a control plane as kind's cluster with one node, which is none of the tree's.

    Args:
        image: image of that node, with its digest.
    """

    image: str

    @property
    def configuration(self) -> Body:
        """Configuration of the cluster, without pod network and proxy, since no pod really runs."""
        return {
            "kind": "Cluster",
            "apiVersion": "kind.x-k8s.io/v1alpha4",
            "networking": {
                "apiServerAddress": LOOPBACK,
                "disableDefaultCNI": True,
                "kubeProxyMode": "none",
            },
            "nodes": [{"role": "control-plane", "image": self.image}],
        }

    @contextmanager
    def running(self, built: Built, folder: Path, _policy: Path | None, /) -> Iterator[Endpoint]:
        """Create kind's cluster, and delete it on any exit.

        Its API server is in a container, which does not have the file of the audit policy.

        Raises:
            ToolError: kind fails, or its API server can't reach this machine.
        """
        cluster = _Cluster(built.programs["kind"], folder)
        with cluster.deleted(), Processes(folder / LOGS) as processes:
            configuration = folder / "kind.yaml"
            configuration.write_bytes(emit(self.configuration))
            cluster.create(configuration)
            address = cluster.machine()
            server, authority, admin = _read_kubeconfig(cluster.kubeconfig)
            certificates = write_certificates(folder / "certificates", address)
            endpoint = Endpoint(
                folder, built, processes, server, authority, admin, address, certificates
            )
            endpoint.write_kubeconfig(ADMIN, admin)
            with endpoint.api() as api:
                processes.wait_until(api.ready, "the readiness of kind's API server", START)
            yield endpoint

    def start_controllers(self, endpoint: Endpoint) -> None:
        """Delete kind's additional objects, and keep pods off its node, which has no taint."""
        with endpoint.api() as api:
            for node in api.list("v1", "Node"):
                api.patch(node, {"spec": {"unschedulable": True}})
            for kind, version in _ADDONS.items():
                for body in api.list(version, kind):
                    api.delete(body, "Foreground")
            endpoint.processes.wait_until(
                lambda: _is_bare(api), "the deletion of kind's additional objects", START
            )


@dataclass(frozen=True, slots=True)
class _Cluster:
    """A cluster that kind runs.

    Args:
        program: path of kind.
        folder: folder of the run, used by one run at a time.
    """

    program: Path
    folder: Path

    @property
    def name(self) -> str:
        return f"trainyard-rehearsal-{sha256(str(self.folder).encode()).hexdigest()[:8]}"

    @property
    def node(self) -> str:
        """Name of its container (pkg/cluster/internal/providers/common/namer.go@v0.33.0)."""
        return f"{self.name}-control-plane"

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "kind" / "kubeconfig"

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments of each command; without `--kubeconfig` kind changes the user's own."""
        return "--name", self.name, "--kubeconfig", str(self.kubeconfig)

    @contextmanager
    def deleted(self) -> Iterator[None]:
        """Delete the cluster afterwards, and before, since a killed run leaves one."""
        self._delete()
        try:
            yield
        finally:
            self._delete()

    def create(self, configuration: Path) -> None:
        """Create the cluster that a file describes.

        Raises:
            ToolError: kind fails; its own message is shown.
        """
        _run(self.program, "create", "cluster", "--config", str(configuration), *self.arguments)

    def _delete(self) -> None:
        _run(self.program, "delete", "cluster", *self.arguments)

    def machine(self) -> str:
        """Return this machine's address for its API server: the gateway of its network.

        Raises:
            ToolError: the container does not reach this machine.
        """
        networks = "{{range .NetworkSettings.Networks}}{{.Gateway}}{{end}}"
        address = _docker("container", "inspect", "--format", networks, self.node)
        try:
            with socket.create_server((address, 0)) as probe:
                there = f"</dev/tcp/{address}/{probe.getsockname()[1]}"
                _docker("exec", self.node, "timeout", str(_PROBE), "bash", "-c", there)
        except (OSError, ToolError) as error:
            raise ToolError(
                "the API server in kind's container can't call webhooks on this machine, at "
                f"{address}: a firewall is in the way, or Docker runs without root or in a virtual "
                f"machine of its own. {error}"
            ) from None
        return address


def _read_kubeconfig(path: Path) -> tuple[str, Path, dict[str, str]]:
    """Return server, authority and user of a kubeconfig; its inline data go to files beside it."""
    (config,) = parse_manifests(path.read_text(encoding="utf-8"))
    assert isinstance(config, dict)
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    written = {}
    for name, data in {**cluster, **user}.items():
        if name.endswith("-data"):
            file = path.with_name(name.removesuffix("-data"))
            file.touch(mode=0o600)
            file.write_bytes(base64.b64decode(data))
            written[file.name] = file
    authority = written.pop("certificate-authority")
    return cluster["server"], authority, {name: str(file) for name, file in written.items()}


def _is_bare(api: Api) -> bool:
    return not any(api.list(version, kind) for kind, version in _ADDONS.items())


def _docker(*arguments: str) -> str:
    return _run("docker", *arguments)


def _run(program: str | Path, *arguments: str) -> str:
    """Return what a program prints.

    Raises:
        ToolError: it is missing, or fails; its own message is shown.
    """
    done = programs.run(
        [program, *arguments],
        environment=os.environ | _PROVIDER,
        timeout=programs.AN_HOUR,
    )
    return done.stdout.strip()
