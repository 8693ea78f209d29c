"""etcd, the API server, Kubernetes' own controllers and KWOK, on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from generator.rehearse.api import Api, Body
from generator.rehearse.build import Built
from generator.rehearse.certificates import Certificates
from generator.rehearse.processes import START, Processes, answers, free_ports

ADMIN = "admin"
_MASTERS = "system:masters"
_GROUPS = ("system:serviceaccounts", "system:authenticated")

_STAGES = (
    "node/fast/node-initialize",
    "node/heartbeat-with-lease/node-heartbeat-with-lease",
    "pod/fast/pod-ready",
    "pod/fast/pod-delete",
)
"""Of KWOK, without ``pod-complete``: jobs would end at once."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a control plane stands.

    Args:
        folder: of this run.
        port: of the API server.
        users: user by the name of its kubeconfig.
    """

    folder: Path
    built: Built
    certificates: Certificates
    port: int
    users: Mapping[str, str]

    @property
    def server(self) -> str:
        """Address of the API server."""
        return f"https://127.0.0.1:{self.port}"

    def kubeconfig(self, name: str) -> Path:
        """Return the kubeconfig of a user."""
        return self.folder / f"{name}.kubeconfig"

    def api(self, name: str = ADMIN) -> Api:
        """Return the API as a user sees it."""
        return Api(self.server, self.certificates.authority, _token(name))


def start_api(place: Place, processes: Processes) -> None:
    """Start etcd and the API server, and wait until it is ready.

    Raises:
        ToolError: a process ends, or it takes too long.
    """
    client, peer = free_ports(2)
    _write_users(place)
    processes.start(place.built.programs["etcd"], tuple(_etcd(place, client, peer)))
    processes.wait_until(lambda: answers(client), "the start of etcd", START)
    processes.start(place.built.programs["kube-apiserver"], tuple(_api_server(place, client)))
    with place.api() as api:
        processes.wait_until(api.ready, "the start of the API server", START)


def start_controllers(place: Place, processes: Processes) -> None:
    """Start what acts on objects; kinds that come later are counted in quotas only half a minute after.

    Raises:
        ToolError: one can't be started.
    """
    manager, scheduler, kwok = free_ports(3)
    processes.start(place.built.programs["kube-controller-manager"], tuple(_manager(place, manager)))
    processes.start(place.built.programs["kube-scheduler"], tuple(_served(place, "kube-scheduler", scheduler)))
    processes.start(place.built.programs["kwok"], tuple(_kwok(place, kwok)))


def _write_users(place: Place) -> None:
    rows = (f"{_token(name)},{user},{name},{_groups(user)}" for name, user in place.users.items())
    (place.folder / "tokens.csv").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    for name in place.users:
        place.kubeconfig(name).write_text(json.dumps(_kubeconfig(place, name)), encoding="utf-8")


def _groups(user: str) -> str:
    """Return the groups of a user, as authentication would give them; a masters' is for ours alone."""
    if user.startswith("system:serviceaccount:"):
        own = f"system:serviceaccounts:{user.split(':')[2]}"
        return f'"{",".join((own, *_GROUPS))}"'
    return "" if user.startswith("system:") else f'"{_MASTERS}"'


def _token(name: str) -> str:
    return f"token-of-{name}"


def _kubeconfig(place: Place, name: str) -> Body:
    cluster = {"server": place.server, "certificate-authority": str(place.certificates.authority)}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": "rehearsal", "cluster": cluster}],
        "users": [{"name": name, "user": {"token": _token(name)}}],
        "contexts": [{"name": name, "context": {"cluster": "rehearsal", "user": name}}],
    }


def _etcd(place: Place, client: int, peer: int) -> Iterator[str]:
    yield from ("--data-dir", str(place.folder / "etcd"), "--unsafe-no-fsync", "--log-level", "warn")
    yield from ("--listen-client-urls", _plain(client), "--advertise-client-urls", _plain(client))
    yield from ("--listen-peer-urls", _plain(peer), "--initial-advertise-peer-urls", _plain(peer))
    yield from ("--initial-cluster", f"default={_plain(peer)}")


def _plain(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def _api_server(place: Place, etcd: int) -> Iterator[str]:
    keys = place.certificates
    yield from ("--etcd-servers", _plain(etcd), "--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1")
    yield from ("--secure-port", str(place.port), "--endpoint-reconciler-type", "none", "--authorization-mode", "RBAC")
    yield from ("--token-auth-file", str(place.folder / "tokens.csv"), "--allow-privileged")
    yield from ("--tls-cert-file", str(keys.certificate), "--tls-private-key-file", str(keys.key))
    yield from ("--service-cluster-ip-range", "10.96.0.0/16")
    yield from ("--service-account-issuer", "https://kubernetes.default.svc")
    yield from (
        "--service-account-key-file",
        str(keys.accounts),
        "--service-account-signing-key-file",
        str(keys.accounts),
    )


def _manager(place: Place, port: int) -> Iterator[str]:
    keys = place.certificates
    yield from _served(place, "kube-controller-manager", port)
    yield from ("--use-service-account-credentials", "--root-ca-file", str(keys.authority))
    yield from ("--service-account-private-key-file", str(keys.accounts))


def _served(place: Place, name: str, port: int) -> Iterator[str]:
    config = str(place.kubeconfig(name))
    yield from ("--kubeconfig", config, "--authentication-kubeconfig", config, "--authorization-kubeconfig", config)
    yield from ("--leader-elect=false", "--bind-address", "127.0.0.1", "--secure-port", str(port))


def _kwok(place: Place, port: int) -> Iterator[str]:
    stages = place.folder / "stages.yaml"
    stages.write_text("---\n".join(_stage_texts(place.built.manifests["kwok"] / "stage")), encoding="utf-8")
    yield from ("--kubeconfig", str(place.kubeconfig("kwok")), "--manage-all-nodes=true", "--config", str(stages))
    yield from ("--server-address", f"127.0.0.1:{port}", "--node-lease-duration-seconds", "40")


def _stage_texts(folder: Path) -> Iterable[str]:
    return (f"{(folder / f'{name}.yaml').read_text(encoding='utf-8').rstrip()}\n" for name in _STAGES)
