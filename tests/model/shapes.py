"""Node types, and launches and networks on them, of any size."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from hypothesis import strategies as st

from generator.diagnostics import Pointer
from generator.model.hardware import Gpu, Hardware, Nic, Share
from generator.model.launch import Launch
from generator.model.network import Network
from tests.rules.cases import platform_of

NAMES = st.from_regex(r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?", fullmatch=True)
"""Names that a profile's file can have."""


def nic(gpu: int, role: str = "rail") -> Nic:
    """Return a port beside a GPU; the order of the buses is not that of the GPUs."""
    return Nic(f"0000:{200 - gpu:02x}:00.0", "", "", 0, role, gpu, Pointer("x"))


def node(**changes: Any) -> Hardware:
    """Return a small GPU node with two rails, changed."""
    small = Hardware(
        name="small",
        at=Pointer("profiles/hardware/small.yaml"),
        files=("profiles/hardware/small.yaml",),
        sockets=1,
        cores=8,
        threads=16,
        numa_nodes=1,
        total=Share(16_000, 64 << 30, 100 << 30, 110),
        system=Share(2_000, 4 << 30, 10 << 30, 10),
        kubelet=Share(1_000, 2 << 30, 5 << 30),
        gpu=Gpu("X", 2, "nvidia.com/gpu", ""),
        nics=(nic(1), nic(0), nic(-1, "storage")),
        nic_vendor="15b3",
        nic_device="1021",
        link_rate=400,
        virtual_functions=8,
        labels={"kind": "small"},
        taint="",
    )
    return replace(small, **changes)


@st.composite
def nodes(draw: st.DrawFn) -> Hardware:
    """Nodes of one or two threads a core whose system leaves at least a core for each GPU."""
    cores, smt = draw(st.integers(1, 256)), draw(st.integers(1, 2))
    threads = cores * smt
    own = draw(st.integers(0, threads - smt))
    left = (threads - own) // smt
    gpus = draw(st.integers(0, min(8, left)))
    rails = draw(st.permutations(range(draw(st.integers(0, gpus)))))
    total = Share(threads * 1000, draw(st.integers(1, 4096)) << 30, draw(st.integers(1, 4096)) << 30, 250)
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
        gpu=Gpu("X", gpus, "nvidia.com/gpu", "") if gpus else None,
        nics=(nic(-1, "management"), *(nic(gpu) for gpu in rails)),
        virtual_functions=draw(st.integers(1, 127)),
    )


@cache
def base() -> tuple[Launch, Network]:
    """Return a launch and a network of the base platform."""
    site = platform_of({}).sites[0]
    return site.launches[0], site.tenants[0].networks[0]


def launch(hardware: Hardware | None = None, *, topology: str = "", groups: bool = False, **runtime: Any) -> Launch:
    """Return a launch on a node type; further arguments change its runtime."""
    known, _ = base()
    return replace(
        known,
        hardware=hardware or node(),
        topology=topology,
        release=replace(known.release, groups_podsets=groups),
        runtime=replace(known.runtime, **runtime),
    )
