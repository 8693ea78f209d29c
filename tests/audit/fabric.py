"""The ports of a fabric: virtual functions, VLANs, and their addresses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from ipaddress import IPv4Network
from operator import itemgetter
from typing import Any

from tests.audit.tree import Document, Tree

_LINKS = {"infiniband": "ib", "roce": "eth"}
_ONE_PORT = {
    "net.ipv4.conf.IFNAME.arp_announce": "2",
    "net.ipv4.conf.IFNAME.arp_ignore": "1",
}
_OPERATORS = {True: "openshift-sriov-network-operator", False: "nvidia-network-operator"}


def operators_find_their_objects(tree: Tree) -> Iterator[str]:
    """The SR-IOV operator and nv-ipam read their own namespace only."""
    kinds = ("IPPool", "SriovNetwork", "SriovNetworkNodePolicy", "SriovNetworkPoolConfig")
    for document in tree.of(*kinds):
        if document.namespace != _OPERATORS[tree.openshift]:
            yield f"{document.path}: in {document.namespace}"


def rails_follow_the_hardware(tree: Tree) -> Iterator[str]:
    """Each rail of a pool has one policy, on its port; ports of other roles have none."""
    policies = {each.name: each.spec for each in tree.of("SriovNetworkNodePolicy")}
    for pool, rail, port in _rails(tree):
        spec = policies.get(f"{pool}-rail-{rail}", {})
        fabric = tree.cluster["fabrics"][tree.cluster["pools"][pool]["fabric"]]
        expected = (_LINKS[fabric["link"]], tree.hardware_of(pool)["nic"]["virtualFunctions"])
        devices = spec.get("nicSelector", {}).get("rootDevices")
        if devices != [port]:
            yield f"pool {pool}: rail {rail} is on {devices}, not on {port}"
        if (spec.get("linkType"), spec.get("numVfs")) != expected:
            yield f"pool {pool}: link and functions of rail {rail} are not {expected}"


def _rails(tree: Tree) -> Iterator[tuple[str, int, str]]:
    """Yield pool, number and PCI address of each rail on a fabric."""
    for pool, fields in tree.cluster["pools"].items():
        if "fabric" in fields:
            for rail, port in enumerate(_rail_ports(tree.hardware_of(pool))):
                yield pool, rail, port


def _rail_ports(hardware: dict[str, Any]) -> list[str]:
    """Return the PCI addresses of the rails, in the order of their GPUs."""
    rails = [nic for nic in hardware.get("nics", ()) if nic["role"] == "rail"]
    return [nic["pci"] for nic in sorted(rails, key=itemgetter("gpu"))]


def vlans_are_enforced(tree: Tree) -> Iterator[str]:
    """A pod can neither leave its VLAN, change its address, nor see RDMA devices of others."""
    for network in tree.of("SriovNetwork"):
        spec = network.spec
        vlan, checks = spec.get("vlan", 0), (spec.get("spoofChk"), spec.get("trust"))
        if checks != ("on", "off") or not 1 < vlan < 4095:
            yield f"{network.path}: spoofChk and trust {checks}, VLAN {vlan}"
        plugins = {each["type"]: each for each in json.loads(f"[{spec.get('metaPlugins', '')}]")}
        if "rdma" not in plugins:
            yield f"{network.path}: the RDMA device stays outside"
        if plugins.get("tuning", {}).get("sysctl") != _ONE_PORT:
            yield f"{network.path}: a port answers for the addresses of other rails"
    for config in tree.of("SriovNetworkPoolConfig"):
        if config.spec.get("rdmaMode") != "exclusive":
            yield f"{config.path}: all pods of a node see its RDMA devices"


def every_function_gets_an_address(tree: Tree) -> Iterator[str]:
    """An address pool has a block for each node, as large as the functions of a port."""
    pools = {each.name: each for each in tree.of("IPPool")}
    for network in tree.of("SriovNetwork"):
        ipam = json.loads(network.spec["ipam"])
        if ipam["type"] == "nv-ipam" and ipam["poolName"] not in pools:
            yield f"{network.path}: no pool {ipam['poolName']}"
    for pool in pools.values():
        yield from (f"{pool.path}: {fault}" for fault in _pool_faults(tree, pool))


def _pool_faults(tree: Tree, pool: Document) -> Iterator[str]:
    fabric, _, rail = pool.name.removeprefix(f"{tree.team_of(pool)}-").rpartition("-rail-")
    functions = _functions(tree, f"{fabric.replace('-', '_')}_rail_{rail}")
    block = pool.spec["perNodeBlockSize"]
    if not functions or block < max(functions):
        yield f"{block} addresses a node for {functions} functions"
    nodes = _nodes(tree, fabric)
    if nodes * block > IPv4Network(pool.spec["subnet"]).num_addresses - 2:
        yield f"too small for {nodes} nodes"


def _functions(tree: Tree, resource: str) -> list[int]:
    """Return the number of functions of each policy for a resource."""
    policies = [each.spec for each in tree.of("SriovNetworkNodePolicy")]
    return [spec["numVfs"] for spec in policies if spec["resourceName"] == resource]


def _nodes(tree: Tree, fabric: str) -> int:
    """Return the number of nodes of a fabric."""
    pools = tree.cluster["pools"].values()
    return sum(pool["nodes"] for pool in pools if pool.get("fabric") == fabric)


AUDITS = (
    operators_find_their_objects,
    rails_follow_the_hardware,
    vlans_are_enforced,
    every_function_gets_an_address,
)
