"""What the SR-IOV operator makes of a tree: its own reconciler over nodes whose network cards the
profiles describe."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from tests.conftest import REPOSITORY
from tests.e2e.engines import SRIOV_OPERATOR, engine
from trainyard.model.hardware import Nic
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.render.site import render_site
from trainyard.workflows.generate import generate

SRIOV = "sriovnetwork.openshift.io/v1"
Body = dict[str, Any]

_LINKS = {"ib": ("IB", "infiniband"), "eth": ("ETH", "ether")}
"""By the policy's word: how a node's state and how the device plugin name a link."""
_VIRTUAL = "101e"
"""PCI id of the virtual functions of ConnectX-6 Dx and later, BlueField too; ConnectX-6 has its own
(pci.ids)."""
_VIRTUAL_OF = {"101b": "101c"}


@dataclass(frozen=True, slots=True)
class Port:
    """A physical port as the operator sets it up on a node.

    Args:
        resource: that its virtual functions are, without prefix.
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
    """Which virtual functions of a node the device plugin advertises under a name.

    Args:
        ports: whose functions they are.
        ids: of vendors, then of devices (PCI).
        links: kinds of link.
    """

    name: str
    ports: tuple[str, ...]
    ids: tuple[str, ...]
    links: tuple[str, ...]
    rdma: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """One node: its ports, what the device plugin advertises, and the mode of its RDMA
    subsystem."""

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
    """Return what the profiles promise of each node, by its name."""
    found = {name: _promised(pool) for pool in site.cluster.pools for name in _names(pool)}
    return {**found, "stranger": Outcome(frozenset(), frozenset(), "")}


def operated(site: Site, objects: Iterable[Body]) -> dict[str, Outcome]:
    """Return what the operator makes of these objects on the nodes of a cluster.

    The reconciler of its policies is what runs (`SriovNetworkNodePolicyReconciler.Reconcile`,
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
    return {
        name: Outcome(
            ports=frozenset(_port(each) for each in state["spec"].get("interfaces", ())),
            resources=frozenset(
                _resource(each) for each in json.loads(plugin["data"][name])["resourceList"] or ()
            ),
            rdma_mode=state["spec"].get("system", {}).get("rdmaMode", ""),
        )
        for state in states["items"]
        for name in [state["metadata"]["name"]]
    }


def _promised(pool: Pool) -> Outcome:
    """Return the rails of the hardware, in the order of their GPUs, and nothing of its other
    ports."""
    if pool.fabric is None:
        return Outcome(frozenset(), frozenset(), "")
    link, hardware, mtu = pool.fabric.link.sriov_type, pool.hardware, pool.fabric.mtu
    ids = (hardware.nic_vendor, _VIRTUAL_OF.get(hardware.nic_device, _VIRTUAL))
    rails = sorted((nic.gpu, nic.pci) for nic in hardware.nics if nic.role == "rail")
    assert [gpu for gpu, _ in rails] == list(range(8))
    names = {pci: f"{pool.fabric.resources}_rail_{gpu}" for gpu, pci in rails}
    number = hardware.virtual_functions
    return Outcome(
        frozenset(
            Port(pci, name, (f"0-{number - 1}",), number, mtu, link, True)
            for pci, name in names.items()
        ),
        frozenset(
            Resource(name, (pci,), ids, (_LINKS[link][1],), True) for pci, name in names.items()
        ),
        "exclusive",
    )


def _nodes(site: Site, namespace: str) -> Iterator[Body]:
    """Yield each node of each pool with its state, and one that belongs to none and has the first
    pool's cards."""
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
    # The operator leaves a state alone in which nothing was found; nodes without cards have at
    # least one for the pods.
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
    """Return a port as the operator's daemon reports it: storage ports are of the rails' model."""
    link = pool.fabric.link.sriov_type if pool.fabric and nic.role == "rail" else "eth"
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
