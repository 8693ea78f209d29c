"""A node's pods as network namespaces, with the policies of a tree in its kernel."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.conftest import REPOSITORY
from tests.e2e.engines import KUBE_ROUTER, engine
from tests.e2e.image import packet_filter
from tests.e2e.network import Network
from trainyard.golang import cache_folder

Probe = tuple[str, str, str, int]
"""Names of source and target, protocol, port."""

_PROBER = REPOSITORY / "tests" / "e2e" / "prober.py"
_NODE, _NODE_ADDRESS = "node", "10.255.0.254"
_SETTINGS = {
    # The node routes between its pods and sends no redirects, so that each packet passes its
    # rules for forwarding.
    "net.ipv4.ip_forward": "1",
    "net.ipv4.conf.all.send_redirects": "0",
    "net.ipv4.conf.pods.send_redirects": "0",
    # A refusal is an ICMP message, and none of them may be dropped.
    "net.ipv4.icmp_ratelimit": "0",
    "net.ipv4.icmp_msgs_per_sec": "1000000",
    "net.ipv4.icmp_msgs_burst": "1000000",
}
_ROUTES = """\
route delete 10.255.0.0/24 dev eth0
route add {node} dev eth0
route add default via {node}
"""
_CHROOT = r"""
set -eu
root=$1 program=$2
shift 2
mount --bind "$program" "$root/program"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/run"
exec chroot "$root" "$@"
"""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A pod, or a host outside of the cluster.

    Args:
        name: unique name of its network namespace.
        namespace: of the pod; empty for a host.
        labels: of the pod.
        address: of the host; a pod is given one.
    """

    name: str
    namespace: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    address: str = ""


class Node:
    """A node with all pods of a cluster, and hosts beside it."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self.endpoints = endpoints
        self._network = Network()
        try:
            self._run("ip", "address", "add", f"{_NODE_ADDRESS}/24", "dev", "pods")
            for key, value in _SETTINGS.items():
                self._run("sysctl", "--quiet", "--write", f"{key}={value}")
            self._addresses = {each.name: self._add(each) for each in endpoints}
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the node, and every process in it."""
        self._network.close()

    def enforce(self, policies: Iterable[Mapping[str, Any]]) -> None:
        """Replace the kernel's rules by those that kube-router writes for these policies."""
        objects = [*self._cluster(), *policies]
        written = "".join(f"{json.dumps(each)}\n" for each in objects)
        self._filter("/program", _NODE, given=written)
        # A datagram from a port that was answered before would pass as part of that exchange.
        self._filter("conntrack", "--flush")

    def answered(self, probes: Iterable[Probe]) -> set[Probe]:
        """Return the probes that are answered."""
        tried = sorted(probes)
        request = {
            "addresses": self._addresses,
            "ports": sorted({port for *_, port in tried}),
            "probes": tried,
        }
        found = self._run(sys.executable, str(_PROBER), given=json.dumps(request))
        return {tuple(probe) for probe in json.loads(found)}

    def _add(self, endpoint: Endpoint) -> str:
        """Create an endpoint's network namespace and return its address."""
        address = self._network.add(endpoint.name)
        self._run(
            "ip", "-n", endpoint.name, "-batch", "-", given=_ROUTES.format(node=_NODE_ADDRESS)
        )
        if not endpoint.address:
            return address
        self._run(
            "ip", "-n", endpoint.name, "address", "add", f"{endpoint.address}/32", "dev", "eth0"
        )
        self._run("ip", "route", "add", endpoint.address, "dev", "pods")
        return endpoint.address

    def _cluster(self) -> Iterable[Mapping[str, Any]]:
        """Yield the objects that policies select: the node, namespaces and pods."""
        addresses = [{"type": "InternalIP", "address": _NODE_ADDRESS}]
        yield {**_object("Node", _NODE), "status": {"addresses": addresses}}
        pods = [each for each in self.endpoints if each.namespace]
        for namespace in sorted({each.namespace for each in pods}):
            # The API server sets this label on every namespace.
            yield _object("Namespace", namespace, labels={"kubernetes.io/metadata.name": namespace})
        for pod in pods:
            address = self._addresses[pod.name]
            status = {
                "phase": "Running",
                "hostIP": _NODE_ADDRESS,
                "podIP": address,
                "podIPs": [{"ip": address}],
            }
            yield {
                **_object("Pod", pod.name, namespace=pod.namespace, labels=pod.labels),
                "status": status,
            }

    def _filter(self, *command: str, given: str = "") -> None:
        program = str(engine(KUBE_ROUTER))
        start = (
            "unshare",
            "--mount",
            "bash",
            "-c",
            _CHROOT,
            "filter",
            str(packet_filter(cache_folder())),
            program,
        )
        self._run(*start, *command, given=given)

    def _run(self, *command: str, given: str = "") -> str:
        inside = self._network.inside(*command)
        done = subprocess.run(
            inside, input=given, cwd=REPOSITORY, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{' '.join(command[:3])}: {done.stderr[-2000:]}"
        return done.stdout


def _object(kind: str, name: str, **metadata: object) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, **metadata}}
