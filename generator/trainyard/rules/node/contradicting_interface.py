"""Compare the names of a port with its PCI address, which they contain."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

_BY_PATH = re.compile(
    r"(?:en|ib|roce)(?:P(?P<domain>\d+))?p(?P<bus>\d+)s(?P<slot>\d+)(?:f(?P<function>\d+))?"
    r"(?:np\d+|d\d+)?\Z"
)
"""Names that udev gives by the path of a port; a card with one port has no function
(systemd:man/systemd.net-naming-scheme.xml@v257, rdma-core:udev/rdma_rename.c@v55.0)."""


RULE = Rule(
    id="node/contradicting-interface",
    severity=Severity.WARNING,
    summary="A name by PCI path has the numbers of the port's address, in decimal.",
    why="""
        One of the two is the address or name of another port, or an address in decimal: the SR-IOV
        operator finds no port there, or makes virtual functions on one that carries storage.
    """,
    fix="""
        Compare with `ls -l /sys/class/net/*/device` on such a node: addresses are hexadecimal,
        names decimal. If the node's own rules name the port, waive this.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        for nic in each.nics:
            for field, name in (("interface", nic.interface), ("device", nic.device)):
                address = _address(name)
                if address and address != nic.pci:
                    message = (
                        f"`{name}` of a `{each.name}` is the name of a port at {address}, not at "
                        f"{nic.pci}"
                    )
                    yield RULE.at(nic.at / field, message)


def _address(name: str) -> str:
    """Return the PCI address in a name; empty if it has none."""
    found = _BY_PATH.match(name)
    if found is None:
        return ""
    numbers = {part: int(value or 0) for part, value in found.groupdict().items()}
    return "{domain:04x}:{bus:02x}:{slot:02x}.{function:x}".format(**numbers)


CHECK = Check(RULE, find)
