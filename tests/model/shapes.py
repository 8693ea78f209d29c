"""Node types, and launches, quotas and networks on them, of any size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from ipaddress import IPv4Network
from typing import Any

from hypothesis import strategies as st

from tests.rules.cases import platform_of
from trainyard.diagnostics import Pointer
from trainyard.model.fabric import Fabric, RailFabric
from trainyard.model.hardware import Gpu, Hardware, Nic, Share
from trainyard.model.launch import Launch
from trainyard.model.link import INFINIBAND, Link
from trainyard.model.network import AddressPool, Network
from trainyard.model.pool import Pool
from trainyard.model.providers import PROVIDERS
from trainyard.model.queue import Queue
from trainyard.model.team import Allocation, Quota
from trainyard.model.topology import Topology
from trainyard.model.unit import Unit

PREFIX = "openshift.io"
"""Of the base release's SR-IOV resources."""
AT = Pointer("x")
NAMES = st.from_regex(r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?", fullmatch=True)
"""Names that a profile's file can have."""


def nic(gpu: int, role: str = "rail") -> Nic:
    """Return a port beside a GPU; the order of the buses is not that of the GPUs."""
    return Nic(f"0000:{200 - gpu:02x}:00.0", "", "", 0, role, gpu, AT)


def node(**changes: Any) -> Hardware:
    """Return a small GPU node with two rails, changed."""
    small = Hardware(
        name="small",
        at=Pointer("profiles/hardware/small.yaml"),
        files=("profiles/hardware/small.yaml",),
        origins={},
        architecture="amd64",
        sockets=1,
        cores=8,
        threads=16,
        numa_nodes=1,
        total=Share(16_000, 64 << 30, 100 << 30, 110),
        system=Share(2_000, 4 << 30, 10 << 30, 10),
        launcher=Share(0, 0),
        kubelet=Share(1_000, 2 << 30, 5 << 30),
        gpu=Gpu("X", 2, "nvidia.com/gpu", ""),
        nics=(nic(1), nic(0), nic(-1, "storage")),
        nic_vendor="15b3",
        nic_device="1021",
        link_rate=400,
        virtual_functions=8,
        devices={},
        labels={"kind": "small"},
        taint="",
    )
    return replace(small, **changes)


@st.composite
def nodes(draw: st.DrawFn, gpus: int | None = None) -> Hardware:
    """Nodes of one or two threads a core whose system leaves at least a core for each GPU.

    Args:
        draw: given by hypothesis.
        gpus: of each, with a rail beside each; any number of both when None.
    """
    cores, smt = draw(st.integers(max(gpus or 0, 1), 256)), draw(st.integers(1, 2))
    threads = cores * smt
    own = draw(st.integers(0, threads - smt * max(gpus or 0, 1)))
    count = draw(st.integers(0, min(8, (threads - own) // smt))) if gpus is None else gpus
    rails = draw(st.permutations(range(draw(st.integers(0, count)) if gpus is None else gpus)))
    total = Share(
        threads * 1000, draw(st.integers(1, 4096)) << 30, draw(st.integers(1, 4096)) << 30, 250
    )
    system = Share(
        own * 1000,
        draw(st.integers(0, total.memory)),
        draw(st.integers(0, total.ephemeral_storage)),
        draw(st.integers(0, 250)),
    )
    return node(
        name=draw(NAMES),
        cores=cores,
        threads=threads,
        total=total,
        system=system,
        gpu=Gpu("X", count, "nvidia.com/gpu", "") if count else None,
        nics=(nic(-1, "management"), *(nic(gpu) for gpu in rails)),
        virtual_functions=draw(st.integers(1, 127)),
    )


def fabric(link: Link = INFINIBAND, **changes: Any) -> RailFabric:
    """Return a fabric called ``ib``, changed."""
    provider, addresses = PROVIDERS[link.name], IPv4Network("10.0.0.0/8")
    plain = RailFabric("ib", AT, provider, link, 0x100, 0x17F, addresses, 20, 0, -1, "ib")
    return replace(plain, **changes)


def pool(hardware: Hardware, on: Fabric | None = None, **changes: Any) -> Pool:
    """Return a pool of ten nodes, changed; on a fabric it has the fabric's topology."""
    return replace(Pool("pool", AT, hardware, on, topology(on), 10, 1, 0, PREFIX), **changes)


def topology(of: Fabric | None, levels: tuple[str, ...] = ()) -> Topology | None:
    """Return the topology of a fabric."""
    return Topology(of.name, of.at, levels, 0) if of else None


def quota(unit: str, own: int, per_node: int, borrow: int = 0, lend: int = 0) -> Quota:
    """Return a team's quota on some pool, stated in a unit."""
    nodes, borrowed, lent = (Fraction(units, per_node) for units in (own, borrow, lend))
    return Quota("east", "pool", AT, Unit(unit), nodes, borrowed, lent, per_node)


@cache
def base() -> tuple[Launch, Network]:
    """Return a launch and a network of the base platform."""
    site = platform_of({}).sites[0]
    return site.launches[0], site.tenants[0].spaces[0].networks[0]


@cache
def base_queue() -> Queue:
    """Return the queue of a team of the base platform."""
    return platform_of({}).sites[0].tenants[0].queues[0]


def launch(
    hardware: Hardware | None = None,
    *,
    on: Fabric | None = None,
    levels: tuple[str, ...] = (),
    groups: bool = False,
    part: Fraction = Fraction(1),
    owner: str = "",
    fips: bool = False,
    **runtime: Any,
) -> Launch:
    """Return a launch on a node type, whose rails hang on a fabric if one is given; the rest
    changes its runtime."""
    known, _ = base()
    return Launch(
        hardware=hardware or node(),
        fabric=on,
        topology=topology(on, levels),
        has_nvlink=False,
        release=replace(known.release, groups_podsets=groups),
        part=part,
        owner=owner,
        domain=known.domain,
        fips=fips,
        runtime=replace(known.runtime, **runtime),
    )


def networks(
    on: RailFabric,
    block: IPv4Network,
    segment: int,
    rails: int,
    namespaces: Sequence[str] = ("team-nlp",),
) -> list[Network]:
    """Return the networks of a team's namespaces on every rail of a fabric."""
    _, known = base()
    pools = (pool(node(nics=tuple(nic(gpu) for gpu in range(rails))), on),)
    held = Allocation(Pointer("profiles/allocations.yaml"), segment, block)
    shared = [AddressPool("nlp", on, rail, rails, pools, held) for rail in range(rails)]
    return [Network(namespace, each, known.release) for namespace in namespaces for each in shared]
