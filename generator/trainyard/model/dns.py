"""Name servers of pods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address

from trainyard.diagnostics import Pointer

METADATA_SERVICE = IPv4Address("169.254.169.254")
"""Where clouds give out a node's credentials. On GKE, Cloud DNS answers there too (port 53)."""

PORT = 53
"""Where resolvers ask: ``resolv.conf`` has no field for another port."""


@dataclass(frozen=True, slots=True)
class Dns:
    """Who resolves names for the pods of a cluster.

    Args:
        at: key of the cluster's profile, whether it is stated or the release's values hold.
        namespace: of the pods that answer.
        labels: of those pods; empty for all pods of the namespace.
        ports: of those *pods*, as egress is judged after the service's DNAT.
        addresses: in the order of the profile, hosts that answer on `PORT`. No selector of pods
            matches them: the caches of NodeLocal DNSCache are on the host network
            (kubernetes/kubernetes:cluster/addons/dns/nodelocaldns/README.md@791358f).
    """

    at: Pointer
    namespace: str
    labels: Mapping[str, str]
    ports: tuple[int, ...]
    addresses: tuple[IPv4Address, ...] = ()

    @property
    def display(self) -> str:
        """Who is asked on which ports, e.g. ``pods of kube-system on 53; 169.254.20.10 on 53``."""
        pods = f"pods of {self.namespace}"
        if self.labels:
            pods += f" with {', '.join(f'{key}={value}' for key, value in self.labels.items())}"
        asked = [f"{pods} on {', '.join(map(str, self.ports))}"]
        asked += [f"{address} on {PORT}" for address in self.addresses]
        return "; ".join(asked)
