"""What stands on a fabric's ports: virtual functions, VLANs, and addresses for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from ipaddress import IPv4Network

from tests.audit.tree import Tree

_OPERATORS = {True: "openshift-sriov-network-operator", False: "nvidia-network-operator"}


def operators_find_their_objects(tree: Tree) -> Iterator[str]:
    """The SR-IOV operator and nv-ipam look into their own namespace only."""
    kinds = ("IPPool", "SriovNetwork", "SriovNetworkNodePolicy", "SriovNetworkPoolConfig")
    for document in tree.of(*kinds):
        if document.namespace != _OPERATORS[tree.openshift]:
            yield f"{document.path}: in {document.namespace}"


def rails_are_made_as_the_hardware_is(tree: Tree) -> Iterator[str]:
    """One policy a rail and pool, on the port of that number, none on a port of another role."""
    for pool, fields in tree.cluster["pools"].items():
        hardware = tree.hardware[fields.get("hardware", pool)]
        rails = (
            [nic for nic in hardware.get("nics", ()) if nic["role"] == "rail"]
            if "fabric" in fields
            else []
        )
        ports = [nic["pci"] for nic in sorted(rails, key=lambda nic: nic["gpu"])]
        policies = {each.name: each.spec for each in tree.of("SriovNetworkNodePolicy")}
        own = [policies.get(f"{pool}-rail-{rail}", {}) for rail in range(len(ports))]
        found = [each.get("nicSelector", {}).get("rootDevices") for each in own]
        if found != [[port] for port in ports]:
            yield f"pool {pool}: rails are made of {found}, not of {ports}"
        for spec in own:
            link = {"infiniband": "ib", "roce": "eth"}[
                tree.cluster["fabrics"][fields["fabric"]]["link"]
            ]
            if (
                spec.get("linkType") != link
                or spec.get("numVfs") != hardware["nic"]["virtualFunctions"]
            ):
                yield f"pool {pool}: {spec.get('numVfs')} functions of link {spec.get('linkType')}"


def vlans_hold(tree: Tree) -> Iterator[str]:
    """The port tags what a pod sends, the pod can't change its address, and sees no other pod's
    RDMA devices."""
    for network in tree.of("SriovNetwork"):
        spec = network.spec
        if (spec.get("spoofChk"), spec.get("trust")) != ("on", "off") or not 1 < spec.get(
            "vlan", 0
        ) < 4095:
            yield (
                f"{network.path}: spoofChk {spec.get('spoofChk')}, trust {spec.get('trust')}, "
                f"VLAN {spec.get('vlan')}"
            )
        if json.loads(spec.get("metaPlugins", "{}")) != {"type": "rdma"}:
            yield f"{network.path}: the RDMA device stays outside"
    for config in tree.of("SriovNetworkPoolConfig"):
        if config.spec.get("rdmaMode") != "exclusive":
            yield f"{config.path}: all pods of a node see its RDMA devices"


def every_function_gets_an_address(tree: Tree) -> Iterator[str]:
    """A pool has a block for each node of its fabric that holds all functions of a port, where such
    nodes are."""
    pools = {each.name: each for each in tree.of("IPPool")}
    for network in tree.of("SriovNetwork"):
        ipam = json.loads(network.spec["ipam"])
        if ipam["type"] == "nv-ipam" and ipam["poolName"] not in pools:
            yield f"{network.path}: no pool {ipam['poolName']}"
    policies = tree.of("SriovNetworkNodePolicy")
    for pool in pools.values():
        fabric, _, rail = pool.name.removeprefix(f"{tree.team_of(pool)}-").rpartition("-rail-")
        functions = [
            each.spec["numVfs"]
            for each in policies
            if each.spec["resourceName"] == f"{fabric.replace('-', '_')}_rail_{rail}"
        ]
        nodes = sum(
            each["nodes"] for each in tree.cluster["pools"].values() if each.get("fabric") == fabric
        )
        block = pool.spec["perNodeBlockSize"]
        if not functions or block < max(functions):
            yield f"{pool.path}: {block} addresses a node for {functions} functions"
        if nodes * block > IPv4Network(pool.spec["subnet"]).num_addresses - 2:
            yield f"{pool.path}: too small for {nodes} nodes"


AUDITS = (
    operators_find_their_objects,
    rails_are_made_as_the_hardware_is,
    vlans_hold,
    every_function_gets_an_address,
)
