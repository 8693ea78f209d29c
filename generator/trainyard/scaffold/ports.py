"""Read the ports of a node, as the SR-IOV operator lists them, into lines of a hardware profile."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trainyard.diagnostics import TreeError
from trainyard.model.card import FUNCTIONS
from trainyard.scaffold.measured import PORTS, Body, Fact

_PCI = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_ID = re.compile(r"[0-9a-f]{4}")
_INTERFACE = re.compile(r"[a-z][A-Za-z0-9_.-]{0,14}")
_SPEED = re.compile(r"([1-9][0-9]{0,6})000 Mb/s")
_MOST = 64
"""Ports of a node, as in the schema of hardware."""


@dataclass(frozen=True, slots=True)
class Port:
    """A port: its address and name, PCI ids, and speed in Gb/s, 0 where its link is down."""

    pci: str
    interface: str
    vendor: str
    device: str
    rate: int


def read_ports(node: str, interfaces: Sequence[Body]) -> list[Port]:
    """Return the ports of a node by address, without functions of others' ports.

    Args:
        node: its name.
        interfaces: ``status.interfaces`` of its SriovNetworkNodeState.

    Raises:
        TreeError: there are too many, or one has an address or id that no port has.
    """
    if len(interfaces) > _MOST:
        raise TreeError(f"node {node} has {len(interfaces)} ports; a profile may have {_MOST}")
    ports = (_port(node, each) for each in interfaces)
    own = (port for port in ports if port.device not in FUNCTIONS)
    return sorted(own, key=lambda port: port.pci)


def _port(node: str, body: Body) -> Port:
    pci, vendor, device = (str(body.get(key, "")) for key in ("pciAddress", "vendor", "deviceID"))
    if not (_PCI.fullmatch(pci) and _ID.fullmatch(vendor) and _ID.fullmatch(device)):
        raise TreeError(f"node {node} has a port without a PCI address and ids: {pci[:20]!r}")
    speed = _SPEED.fullmatch(str(body.get("linkSpeed", "")))
    name = str(body.get("name", ""))
    interface = name if _INTERFACE.fullmatch(name) else ""
    return Port(pci, interface, vendor, device, int(speed[1]) if speed else 0)


def port_lines(node: str, ports: Sequence[Port], gpus: int) -> Iterator[str]:
    """Yield the lines about ports: the fastest are rails, if there is one for each GPU.

    Args:
        node: its name.
        ports: all of them.
        gpus: of the node.
    """
    fastest = max((port.rate for port in ports), default=0)
    counts = Counter((port.vendor, port.device, port.rate) for port in ports)
    kinds = [kind for kind, count in counts.items() if kind[2] == fastest > 0 and count == gpus]
    source = f"status.interfaces of {PORTS} {node}"
    if len(kinds) == 1:
        vendor, device, rate = kinds[0]
        ids = f'vendor: "{vendor}", device: "{device}", rate: {rate}'
        value = f"{{{ids}, virtualFunctions: {gpus}}}"
        yield Fact("nic", value, f"{source}; one virtual function a GPU").line
    yield "nics:"
    yield "  # placeholder: roles, and the GPU beside each rail (`nvidia-smi topo -m`)"
    gpu = 0
    for port in ports:
        interface = f", interface: {port.interface}" if port.interface else ""
        role = "role: management"
        if (port.vendor, port.device, port.rate) in kinds:
            role, gpu = f"role: rail, gpu: {gpu}", gpu + 1
        yield f'  - {{pci: "{port.pci}"{interface}, {role}}} # {source}'
