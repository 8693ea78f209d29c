"""A control plane of local processes: etcd, the API server and Kubernetes' controllers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trainyard_rehearsal.control_plane.build import Built
from trainyard_rehearsal.control_plane.certificates import write_certificates
from trainyard_rehearsal.control_plane.endpoint import ADMIN, Endpoint
from trainyard_rehearsal.control_plane.processes import (
    LOGS,
    LOOPBACK,
    START,
    Processes,
    answers,
    free_ports,
)

AUDIT_LOG = "audit.log"
"""Audit events in the folder of a run, one a line."""
_MANAGER, _SCHEDULER = "kube-controller-manager", "kube-scheduler"
_USERS = {
    ADMIN: "admin,0,system:masters",
    _MANAGER: f"system:{_MANAGER},1",
    _SCHEDULER: f"system:{_SCHEDULER},2",
}
"""Users in the API server's file of tokens: name, id and group."""


@contextmanager
def running(built: Built, folder: Path, policy: Path | None, /) -> Iterator[Endpoint]:
    """Run etcd and the API server, which writes `AUDIT_LOG` where it has an audit policy.

    Raises:
        ToolError: a process ends, or takes too long to start.
    """
    certificates = write_certificates(folder / "certificates", LOOPBACK)
    (port,) = free_ports(1)
    with Processes(folder / LOGS) as processes:
        endpoint = Endpoint(
            folder,
            built,
            processes,
            server=f"https://{LOOPBACK}:{port}",
            authority=certificates.authority,
            admin=_user(ADMIN),
            address=LOOPBACK,
            certificates=certificates,
        )
        _write_users(endpoint)
        _start_api(endpoint, port, policy)
        yield endpoint


def start_controllers(endpoint: Endpoint) -> None:
    """Start the controller manager and the scheduler.

    They start last, since quotas count a kind that is added later only after half a minute.

    Raises:
        ToolError: a process can't be started.
    """
    manager, scheduler = free_ports(2)
    programs = endpoint.built.programs
    endpoint.processes.start(programs[_MANAGER], tuple(_manager(endpoint, manager)))
    endpoint.processes.start(programs[_SCHEDULER], tuple(_served(endpoint, _SCHEDULER, scheduler)))


def _start_api(endpoint: Endpoint, port: int, policy: Path | None) -> None:
    client, peer = free_ports(2)
    processes, programs = endpoint.processes, endpoint.built.programs
    audit = _audit(endpoint.folder, policy) if policy else ()
    processes.start(programs["etcd"], tuple(_etcd(endpoint, client, peer)))
    processes.wait_until(lambda: answers(client), "the start of etcd", START)
    arguments = (*_api_server(endpoint, port, client), *audit)
    processes.start(programs["kube-apiserver"], arguments)
    with endpoint.api() as api:
        processes.wait_until(api.ready, "the start of the API server", START)


def _write_users(endpoint: Endpoint) -> None:
    rows = (f"{_user(name)['token']},{user}\n" for name, user in _USERS.items())
    (endpoint.folder / "tokens.csv").write_text("".join(rows), encoding="utf-8")
    for name in _USERS:
        endpoint.write_kubeconfig(name, _user(name))


def _user(name: str) -> dict[str, str]:
    return {"token": f"token-of-{name}"}


def _etcd(endpoint: Endpoint, client: int, peer: int) -> Iterator[str]:
    yield from (
        "--data-dir",
        str(endpoint.folder / "etcd"),
        "--unsafe-no-fsync",
        "--log-level",
        "warn",
    )
    yield from ("--listen-client-urls", _plain(client), "--advertise-client-urls", _plain(client))
    yield from ("--listen-peer-urls", _plain(peer), "--initial-advertise-peer-urls", _plain(peer))
    yield from ("--initial-cluster", f"default={_plain(peer)}")


def _plain(port: int) -> str:
    return f"http://{LOOPBACK}:{port}"


def _api_server(endpoint: Endpoint, port: int, etcd: int) -> Iterator[str]:
    keys = endpoint.certificates
    yield from (
        "--etcd-servers",
        _plain(etcd),
        "--bind-address",
        LOOPBACK,
        "--advertise-address",
        LOOPBACK,
    )
    yield from (
        "--secure-port",
        str(port),
        "--endpoint-reconciler-type",
        "none",
        "--authorization-mode",
        "RBAC",
    )
    # OpenShift has it by default, and the README of other clusters asks for it.
    yield from ("--enable-admission-plugins", "OwnerReferencesPermissionEnforcement")
    yield from ("--token-auth-file", str(endpoint.folder / "tokens.csv"), "--allow-privileged")
    yield from ("--tls-cert-file", str(keys.certificate), "--tls-private-key-file", str(keys.key))
    yield from ("--service-cluster-ip-range", "10.96.0.0/16")
    yield from ("--service-account-issuer", "https://kubernetes.default.svc")
    yield from (
        "--service-account-key-file",
        str(keys.accounts),
        "--service-account-signing-key-file",
        str(keys.accounts),
    )


def _audit(folder: Path, policy: Path) -> Iterator[str]:
    """Yield the arguments with which the API server appends each event to a file at once."""
    yield from ("--audit-policy-file", str(policy), "--audit-log-path", str(folder / AUDIT_LOG))


def _manager(endpoint: Endpoint, port: int) -> Iterator[str]:
    keys = endpoint.certificates
    yield from _served(endpoint, _MANAGER, port)
    yield from ("--use-service-account-credentials", "--root-ca-file", str(keys.authority))
    yield from (
        "--service-account-private-key-file",
        str(keys.accounts),
        "--pvclaimbinder-sync-period",
        "1s",
    )


def _served(endpoint: Endpoint, name: str, port: int) -> Iterator[str]:
    config = str(endpoint.kubeconfig(name))
    yield from (
        "--kubeconfig",
        config,
        "--authentication-kubeconfig",
        config,
        "--authorization-kubeconfig",
        config,
    )
    yield from ("--leader-elect=false", "--bind-address", LOOPBACK, "--secure-port", str(port))
