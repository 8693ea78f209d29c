"""A team's attachments to the rails, and the ways out of its namespace."""

from __future__ import annotations

import json
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

from generator.diagnostics import Pointer
from generator.model import names
from generator.model.hardware import Hardware
from generator.model.pool import Fabric
from generator.model.team import Allocation


@dataclass(frozen=True, slots=True)
class Network:
    """A team's attachment to one rail: the same name in every team's namespace, another partition."""

    team: str
    fabric: Fabric
    hardware: Hardware
    rail: int
    allocation: Allocation
    prefix: str

    @property
    def name(self) -> str:
        """Name of the NetworkAttachmentDefinition."""
        return names.network(self.hardware.name, self.rail)

    @property
    def resource(self) -> str:
        """The VF resource that the attachment takes."""
        return f"{self.prefix}/{names.rail_resource(self.hardware.name, self.rail)}"

    @property
    def partition(self) -> str:
        """The team's pkey, as text: as a number YAML readers would make a decimal of it."""
        return f"0x{self.allocation.partition:04x}"

    @property
    def addresses(self) -> IPv4Network:
        """This rail's part of the team's block."""
        bits = (len(self.hardware.rails) - 1).bit_length()
        return list(self.allocation.addresses.subnets(prefixlen_diff=bits))[self.rail]

    @property
    def config(self) -> str:
        """CNI configuration, one JSON text.

        Keys of k8snetworkplumbingwg/ib-sriov-cni@v1.3.0; ``pkey`` and ``ibKubernetesEnabled`` make ib-kubernetes put
        the VF's GUID into the partition; ``network_name`` keeps equal ranges elsewhere from sharing one pool.
        """
        return json.dumps(
            {
                "cniVersion": "1.0.0",
                "name": f"{self.team}-{self.name}",
                "type": "ib-sriov",
                "pkey": self.partition,
                "link_state": "enable",
                "rdmaIsolation": True,
                "ibKubernetesEnabled": True,
                "capabilities": {"infinibandGUID": True},
                "ipam": {
                    "type": "whereabouts",
                    "range": str(self.addresses),
                    "network_name": f"{self.team}-{self.name}",
                },
            },
            separators=(",", ":"),
        )


@dataclass(frozen=True, slots=True)
class Egress:
    """A way out of the teams' namespaces that the platform declares.

    Args:
        cidrs, namespaces: where to.
        ports: TCP ports at the receiving pod or host.
        source: ``jobs``, ``workspaces`` (workbenches and pipelines) or ``all``.
    """

    name: str
    at: Pointer
    cidrs: tuple[str, ...]
    namespaces: tuple[str, ...]
    ports: tuple[int, ...]
    source: str

    @property
    def policy_name(self) -> str:
        """Name of the NetworkPolicy."""
        return f"egress-{self.name}"

    @property
    def pods(self) -> dict[str, Any]:
        """Whose way out it is: pods of jobs carry JobSet's label, those of workspaces don't."""
        if self.source == "all":
            return {}
        operator = "Exists" if self.source == "jobs" else "DoesNotExist"
        return {"matchExpressions": [{"key": "jobset.sigs.k8s.io/jobset-name", "operator": operator}]}

    @property
    def peers(self) -> list[dict[str, Any]]:
        """Where to, as NetworkPolicy peers."""
        labels = ({"kubernetes.io/metadata.name": namespace} for namespace in self.namespaces)
        ranges: list[dict[str, Any]] = [{"ipBlock": {"cidr": cidr}} for cidr in self.cidrs]
        return ranges + [{"namespaceSelector": {"matchLabels": label}} for label in labels]

    @property
    def port_list(self) -> list[dict[str, Any]]:
        """TCP ports, as NetworkPolicy ports."""
        return [{"port": port, "protocol": "TCP"} for port in self.ports]
