"""CNI plugins that give addresses to pods on the rails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network


@dataclass(frozen=True, slots=True)
class AddressPlugin:
    """A CNI plugin that gives addresses.

    Args:
        configuration: of the plugin in a network, from the name of a pool and its range.
        blocks: whether every node of the fabric sets a block of each pool aside, whoever's pods run
            there.
        external: what a cluster declares an owner for, beside the plugin itself; empty for nothing.
    """

    configuration: Callable[[str, IPv4Network], dict[str, str]]
    blocks: bool
    external: str = ""


def _whereabouts(pool: str, addresses: IPv4Network) -> dict[str, str]:
    """Return a range in the attachment itself; ``network_name`` separates it from equal ranges.

    Source: k8snetworkplumbingwg/whereabouts:doc/extended-configuration.md@v0.9.4.
    """
    return {"type": "whereabouts", "range": str(addresses), "network_name": pool}


def _nv_ipam(pool: str, _: IPv4Network) -> dict[str, str]:
    """Name the IPPool that holds the range.

    Source: Mellanox/nvidia-k8s-ipam:README.md@network-operator-v26.4.1.
    """
    return {"type": "nv-ipam", "poolName": pool}


IPAMS: Mapping[str, AddressPlugin] = {
    "nv-ipam": AddressPlugin(_nv_ipam, blocks=True),
    # cluster-network-operator renders the reconciler only for a Raw additionalNetwork with this
    # plugin: pkg/network/multus.go, detectAuxiliaryIPAM.
    "whereabouts": AddressPlugin(_whereabouts, blocks=False, external="IPReconciler/whereabouts"),
}
"""By the name in a release."""
