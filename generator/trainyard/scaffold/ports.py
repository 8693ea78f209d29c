"""Read the ports of a node, as the SR-IOV operator lists them, into lines of a hardware profile."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trainyard.diagnostics import TreeError
from trainyard.model.card import FUNCTIONS
from trainyard.scaffold.measured import Fact
from trainyard.scaffold.nodes import PORTS, Body

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
    source = f"status.interfaces of {PORTS} {node}"
    rails = _rails(ports, gpus)
    for rail in rails[:1]:
        ids = f'vendor: "{rail.vendor}", device: "{rail.device}", rate: {rail.rate}'
        value = f"{{{ids}, virtualFunctions: {gpus}}}"
        yield Fact("nic", value, f"{source}; one virtual function a GPU").line
    yield "nics:"
    yield "  # placeholder: roles, and the GPU beside each rail (`nvidia-smi topo -m`)"
    for port in ports:
        interface = f", interface: {port.interface}" if port.interface else ""
        role = f"rail, gpu: {rails.index(port)}" if port in rails else "management"
        yield f'  - {{pci: "{port.pci}"{interface}, role: {role}}} # {source}'


def _rails(ports: Sequence[Port], gpus: int) -> list[Port]:
    """Return the fastest ports, if they are of one kind and one for each GPU."""
    fastest = max((port.rate for port in ports), default=0)
    rails = [port for port in ports if port.rate == fastest > 0]
    kinds = {(port.vendor, port.device) for port in rails}
    return rails if len(kinds) == 1 and len(rails) == gpus else []
