"""View of a cluster's name servers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

from trainyard.model.dns import PORT, Dns
from trainyard.render.cel import text_list


@dataclass(frozen=True, slots=True)
class DnsView:
    """Who resolves names for pods, as templates read it."""

    dns: Dns

    @property
    def pod_ports(self) -> list[dict[str, Any]]:
        """NetworkPolicy ports of the pods that answer."""
        return _both_protocols(self.dns.ports)

    @property
    def host_ports(self) -> list[dict[str, Any]]:
        """NetworkPolicy ports of the hosts that answer."""
        return _both_protocols([PORT])

    @property
    def hosts(self) -> list[dict[str, Any]]:
        """NetworkPolicy peers: the hosts that answer."""
        hosts = sorted(self.dns.addresses)
        return [{"ipBlock": {"cidr": f"{address}/32"}} for address in hosts]

    @property
    def namespace_list(self) -> str:
        """CEL: the namespaces in which a cluster's names are resolved, on any distribution."""
        return text_list(sorted({"kube-system", self.dns.namespace}))


def _both_protocols(ports: Iterable[int]) -> list[dict[str, Any]]:
    """Return NetworkPolicy ports: a large answer makes a resolver ask again by TCP."""
    return [{"port": port, "protocol": each} for port, each in product(ports, ("TCP", "UDP"))]
