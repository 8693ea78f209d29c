"""The SR-IOV operator's own reconciler, over a tree and nodes with the profiles' network cards."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from tests.conftest import REPOSITORY
from tests.e2e.engines import SRIOV_OPERATOR, engine
from trainyard.generation.generate import generate
from trainyard.model.hardware import Nic
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.render.site import render_site

SRIOV = "sriovnetwork.openshift.io/v1"
Body = dict[str, Any]

_LINKS = {"ib": ("IB", "infiniband"), "eth": ("ETH", "ether")}
"""Names of a link in a node's state and in the device plugin, by its name in policies."""
_VIRTUAL = "101e"
"""PCI id of the virtual functions of ConnectX-6 Dx and later, BlueField too; ConnectX-6 has its own
(pci.ids)."""
_VIRTUAL_OF = {"101b": "101c"}


@dataclass(frozen=True, slots=True)
class Port:
    """A physical port as the operator sets it up on a node.

    Args:
        resource: resource of its virtual functions, without prefix.
        functions: their numbers, e.g. ``0-7``.
        mtu: bytes; 0 leaves the driver's.
        link: ``ib`` or ``eth``.
    """

    pci: str
    resource: str
    functions: tuple[str, ...]
    number: int
    mtu: int
    link: str
    rdma: bool


@dataclass(frozen=True, slots=True)
class Resource:
    """Virtual functions of a node that the device plugin advertises under a name.

    Args:
        ports: physical ports of the functions.
        ids: PCI ids of vendors, then of devices.
        links: kinds of link.
    """

    name: str
    ports: tuple[str, ...]
    ids: tuple[str, ...]
    links: tuple[str, ...]
    rdma: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """A node: its ports, its advertised resources, and the mode of its RDMA subsystem."""

    ports: frozenset[Port]
    resources: frozenset[Resource]
    rdma_mode: str


def site_of(folder: str, name: str) -> Site:
    """Return a cluster of the profiles in a folder of this repository."""
    platform = generate(REPOSITORY / folder, "../profiles/components").checked.platform
    assert platform is not None
    return next(site for site in platform.sites if site.name == name)


def node_objects(site: Site) -> list[Body]:
    """Return the objects of a cluster's tree that the operator reads: policies and pools."""
    kinds = {"SriovNetworkNodePolicy", "SriovNetworkPoolConfig"}
    return [each.body for each in render_site(site) if each.body["kind"] in kinds]


def promised(site: Site) -> dict[str, Outcome]:
    """Return the promised outcome of each node by name."""
    found = {name: _promised(pool) for pool in site.cluster.pools for name in _names(pool)}
    return {**found, "stranger": Outcome(frozenset(), frozenset(), "")}


def operated(site: Site, objects: Iterable[Body]) -> dict[str, Outcome]:
    """Return the outcome of each node of a cluster by name, as the operator reconciles objects.

    The reconciler of its policies runs (`SriovNetworkNodePolicyReconciler.Reconcile`,
    exported): it applies policies to the nodes' states, and writes the device plugin's ConfigMap.
    """
    namespace, program = site.cluster.release.sriov_namespace, engine(SRIOV_OPERATOR)
    cards = yaml.safe_load((program.parent / "configmap.yaml").read_text(encoding="utf-8"))
    configuration = _object("SriovOperatorConfig", "default", namespace)
    given = [cards, configuration, *_nodes(site, namespace), *objects]
    written = "".join(f"{json.dumps(each)}\n" for each in given)
    done = subprocess.run(
        [program, namespace], input=written, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    states, plugin = map(json.loads, done.stdout.splitlines())
    found = {}
    for state in states["items"]:
        name = state["metadata"]["name"]
        found[name] = _outcome(state["spec"], json.loads(plugin["data"][name]))
    return found


def _outcome(state: Body, plugin: Body) -> Outcome:
    """Return the outcome of a node from its state and its configuration of the device plugin."""
    return Outcome(
        ports=frozenset(map(_port, state.get("interfaces", ()))),
        resources=frozenset(map(_resource, plugin["resourceList"] or ())),
        rdma_mode=state.get("system", {}).get("rdmaMode", ""),
    )


def _promised(pool: Pool) -> Outcome:
    """Return the outcome of a pool's nodes: the rails in the order of their GPUs, no other port."""
    fabric = pool.rail_fabric
    if fabric is None:
        return Outcome(frozenset(), frozenset(), "")
    link, hardware, mtu = fabric.link.sriov_type, pool.hardware, fabric.mtu
    links = (_LINKS[link][1],)
    ids = (hardware.nic_vendor, _VIRTUAL_OF.get(hardware.nic_device, _VIRTUAL))
    rails = sorted((nic.gpu, nic.pci) for nic in hardware.nics if nic.role == "rail")
    assert [gpu for gpu, _ in rails] == list(range(8))
    number = hardware.virtual_functions
    ports, resources = set(), set()
    for gpu, pci in rails:
        name = f"{fabric.resources}_rail_{gpu}"
        ports.add(Port(pci, name, (f"0-{number - 1}",), number, mtu, link, True))
        resources.add(Resource(name, (pci,), ids, links, True))
    return Outcome(frozenset(ports), frozenset(resources), "exclusive")


def _nodes(site: Site, namespace: str) -> Iterator[Body]:
    """Yield each node of each pool with its state, and one outside the pools, with their cards."""
    for pool in site.cluster.pools:
        for name in _names(pool):
            yield from _node(name, namespace, pool.hardware.labels, pool)
    yield from _node("stranger", namespace, {}, site.cluster.pools[0])


def _node(name: str, namespace: str, labels: Mapping[str, str], pool: Pool) -> Iterator[Body]:
    worker = {"node-role.kubernetes.io/worker": "", "kubernetes.io/os": "linux"}
    yield {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**worker, **labels}},
    }
    ports = [_card(nic, pool, number) for number, nic in enumerate(pool.hardware.nics)]
    # The operator ignores a state without interfaces, so every node has at least one.
    first = {
        "pciAddress": "0000:01:00.0",
        "name": "eno1",
        "vendor": "14e4",
        "deviceID": "16d7",
        "linkType": "ETH",
    }
    state = _object("SriovNetworkNodeState", name, namespace)
    yield {**state, "status": {"interfaces": [first, *ports]}}


def _card(nic: Nic, pool: Pool, number: int) -> Body:
    """Return a port as the operator's daemon reports it; storage ports have the rails' model."""
    fabric = pool.rail_fabric
    link = fabric.link.sriov_type if fabric and nic.role == "rail" else "eth"
    card = {
        "vendor": pool.hardware.nic_vendor,
        "deviceID": pool.hardware.nic_device,
        "driver": "mlx5_core",
    }
    name = nic.interface or f"port{number}"
    return {
        **card,
        "pciAddress": nic.pci,
        "name": name,
        "linkType": _LINKS[link][0],
        "totalvfs": 16,
        "mtu": 1500,
    }


def _port(interface: Body) -> Port:
    groups = interface["vfGroups"]
    return Port(
        pci=interface["pciAddress"],
        resource=",".join(sorted({each["resourceName"] for each in groups})),
        functions=tuple(each["vfRange"] for each in groups),
        number=interface["numVfs"],
        mtu=interface.get("mtu", 0),
        link=interface["linkType"],
        rdma=all(each.get("isRdma") and each["deviceType"] == "netdevice" for each in groups),
    )


def _resource(resource: Body) -> Resource:
    chosen = resource["selectors"]
    keys = ("rootDevices", "vendors", "devices", "linkTypes")
    ports, vendors, devices, links = (tuple(chosen.get(key) or ()) for key in keys)
    return Resource(resource["resourceName"], ports, (*vendors, *devices), links, chosen["IsRdma"])


def _names(pool: Pool) -> list[str]:
    return [f"{pool.name}-{number}" for number in range(pool.nodes)]


def _object(kind: str, name: str, namespace: str) -> Body:
    return {"apiVersion": SRIOV, "kind": kind, "metadata": {"name": name, "namespace": namespace}}
