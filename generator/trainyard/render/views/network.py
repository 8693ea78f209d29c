"""Views of topologies, attachments to rails, and egress."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import starmap
from typing import Any

from trainyard.model import names
from trainyard.model.fabric import DeviceFabric
from trainyard.model.ipam import IPAMS
from trainyard.model.network import BESIDE_MPI_JOBS, MPI_JOBS, AddressPool, Egress, Network
from trainyard.model.provider import Separation
from trainyard.model.topology import HOSTNAME, Topology
from trainyard.render.cel import text, text_list

_ONE_PORT = {"arp_announce": "2", "arp_ignore": "1"}
"""Sysctls by which an interface answers for its own address only.

All rails of a team are in one VLAN. Linux else answers for each address of a pod on each interface,
so a peer sends to the port of another rail, whose card does not know the queue pair. The kernel
finds the port of a RoCE peer in the same table (linux:drivers/infiniband/core/addr.c,
``rdma_addr_find_l2_eth_by_grh``). InfiniBand finds it by GID, in the subnet manager.
"""


@dataclass(frozen=True, slots=True)
class TopologyView:
    """A topology, as templates read it."""

    topology: Topology

    @property
    def level_list(self) -> tuple[dict[str, str], ...]:
        """Levels of the Kueue Topology, which accepts the host name only as the last."""
        return tuple({"nodeLabel": label} for label in (*self.topology.levels, HOSTNAME))


@dataclass(frozen=True, slots=True)
class DeviceFabricView:
    """A fabric whose devices others advertise, as templates read it."""

    fabric: DeviceFabric

    @property
    def needs(self) -> list[str]:
        """What its owner sets up, a sentence each, as Markdown."""
        given = ", ".join(f"`{each}`" for each in self.fabric.networks or (self.fabric.devices,))
        return [need.format(devices=given) for need in self.fabric.provider.needs]

    @property
    def allocatable_path(self) -> str:
        """JSONPath of what a node advertises: of the devices, or of all where they are many."""
        escaped = self.fabric.devices.replace(".", "\\.")
        return f"{{.status.allocatable.{escaped}}}" if escaped else "{.status.allocatable}"

    @property
    def leaves_its_networks(self) -> str:
        """CEL: what is not a rank asks for no interface in its networks, nor escapes one."""
        keys = self.fabric.provider.annotations
        if keys is None:
            return "true"
        key, listed = text(keys.interfaces), f"variables.annotations[{text(keys.interfaces)}]"
        names = text_list([f'"{network}"' for network in self.fabric.networks])
        return (
            f"variables.free || !({key} in variables.annotations) || "
            f"variables.oldAnnotations[?{key}] == optional.of({listed}) || "
            f"(!{listed}.contains('\\\\') && {names}.all(name, !{listed}.contains(name)))"
        )

    @property
    def is_separated(self) -> bool:
        """Return whether teams of different pools are apart."""
        return self.fabric.provider.separation is Separation.POOLS


@dataclass(frozen=True, slots=True)
class AddressPoolView:
    """A team's addresses on one rail, as templates read them."""

    pool: AddressPool

    @property
    def node_terms(self) -> list[dict[str, Any]]:
        """The nodes on the fabric, as an IPPool selects them."""
        labels = {tuple(pool.labels.items()) for pool in self.pool.pools}
        return [{"matchExpressions": list(starmap(_is_in, pairs))} for pairs in sorted(labels)]


def _is_in(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": [value]}


@dataclass(frozen=True, slots=True)
class NetworkView:
    """The attachment of a namespace to a rail, as templates read it."""

    network: Network

    @property
    def resource_name(self) -> str:
        """The VF resource that the attachment takes, without prefix."""
        return names.rail_resource(self.network.fabric.resources, self.network.addresses.rail)

    @property
    def resource(self) -> str:
        """The VF resource that the attachment takes."""
        return f"{self.network.release.resource_prefix}/{self.resource_name}"

    @property
    def ipam(self) -> str:
        """Configuration of the address plugin, as JSON without white space.

        The SR-IOV operator removes all white space from it.
        """
        return _json(self._ipam())

    @property
    def chained_plugins(self) -> str:
        """CNI plugins behind that of SR-IOV, as JSON: the operator puts the text into its list.

        ``rdma`` moves the VF's RDMA device into the pod, as exclusive mode needs. ``tuning`` sets
        the sysctls of the interface.
        """
        sysctls = {f"net.ipv4.conf.IFNAME.{name}": value for name, value in _ONE_PORT.items()}
        return f"{_json({'type': 'rdma'})},{_json({'type': 'tuning', 'sysctl': sysctls})}"

    def _ipam(self) -> dict[str, str]:
        addresses = self.network.addresses
        plugin = IPAMS[self.network.release.ipam]
        return plugin.configuration(addresses.name, addresses.addresses)

    @property
    def infiniband_config(self) -> str:
        """CNI configuration, one JSON text.

        Keys of k8snetworkplumbingwg/ib-sriov-cni@v1.3.0; ``pkey`` and ``ibKubernetesEnabled`` make
        ib-kubernetes put the VF's GUID into the partition.
        """
        return _json(
            {
                "cniVersion": "1.0.0",
                "name": self.network.addresses.name,
                "type": "ib-sriov",
                "pkey": self.network.display,
                "link_state": "enable",
                "rdmaIsolation": True,
                "ibKubernetesEnabled": True,
                "capabilities": {"infinibandGUID": True},
                "ipam": self._ipam(),
            }
        )


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"))


_JOB, _MPI_JOB = names.JOB_LABEL, names.MPI_JOB_LABEL
_PODS: dict[str, list[dict[str, str]]] = {
    "all": [],
    "jobs": [{"key": _JOB, "operator": "Exists"}],
    MPI_JOBS: [
        {"key": _JOB, "operator": "DoesNotExist"},
        {"key": _MPI_JOB, "operator": "Exists"},
    ],
    "workspaces": [{"key": _JOB, "operator": "DoesNotExist"}],
    BESIDE_MPI_JOBS: [
        {"key": _JOB, "operator": "DoesNotExist"},
        {"key": _MPI_JOB, "operator": "DoesNotExist"},
    ],
}
"""Source of an egress rule -> labels of its pods: those of TrainJobs have JobSet's label, those of
MPIJobs their operator's, and those of workspaces none of them."""


def selected(source: str) -> dict[str, Any]:
    """Return the selector of the pods of a source."""
    expressions = _PODS[source]
    return {"matchExpressions": expressions} if expressions else {}


@dataclass(frozen=True, slots=True)
class EgressView:
    """An egress rule of the platform, as templates read it."""

    egress: Egress

    @property
    def policy_name(self) -> str:
        """Name of the NetworkPolicy."""
        return names.egress_policy(self.egress.name)

    @property
    def pods(self) -> dict[str, Any]:
        """Pods that it is for."""
        return selected(self.egress.source)

    @property
    def peers(self) -> list[dict[str, Any]]:
        """Destinations, as NetworkPolicy peers."""
        peers: list[dict[str, Any]] = [{"ipBlock": {"cidr": cidr}} for cidr in self.egress.cidrs]
        for name in self.egress.namespaces:
            labels = {"kubernetes.io/metadata.name": name}
            peers.append({"namespaceSelector": {"matchLabels": labels}})
        return peers

    @property
    def port_list(self) -> list[dict[str, Any]]:
        """TCP ports, as NetworkPolicy ports."""
        return [{"port": port, "protocol": "TCP"} for port in self.egress.ports]
