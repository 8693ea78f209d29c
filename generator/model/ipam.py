"""Who gives addresses to pods on the rails: the CNI plugin's configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from ipaddress import IPv4Network

Addresses = Callable[[str, IPv4Network], dict[str, str]]
"""From the name of a pool and its range to the plugin's configuration."""


def whereabouts(pool: str, addresses: IPv4Network) -> dict[str, str]:
    """Keep the range in the attachment itself; ``network_name`` keeps equal ranges elsewhere from sharing one pool.

    Source: k8snetworkplumbingwg/whereabouts:doc/extended-configuration.md@v0.9.4.
    """
    return {"type": "whereabouts", "range": str(addresses), "network_name": pool}


def nv_ipam(pool: str, addresses: IPv4Network) -> dict[str, str]:  # noqa: ARG001  # the range stands in the IPPool
    """Name the IPPool that holds the range.

    Source: Mellanox/nvidia-k8s-ipam:README.md@network-operator-v26.4.1.
    """
    return {"type": "nv-ipam", "poolName": pool}


IPAMS: Mapping[str, Addresses] = {"nv-ipam": nv_ipam, "whereabouts": whereabouts}
"""By the name that a release says."""
