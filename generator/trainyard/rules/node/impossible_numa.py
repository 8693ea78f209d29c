"""Compare each port's NUMA node with the node's NUMA nodes and the card's other ports."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.hardware import Hardware, Nic
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware
from trainyard.rules.node._numa import NO_EFFECT, placed

RULE = Rule(
    id="node/impossible-numa",
    severity=Severity.ERROR,
    summary="""
        Each port is on an existing NUMA node, all ports of a card are on the same one, and each
        NUMA node has a core. All sockets have as many NUMA nodes.
    """,
    why=NO_EFFECT,
    fix="""
        Take the numbers from `lscpu` and `cat /sys/bus/pci/devices/<pci>/numa_node` on such a node.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for node_type in hardware(platform):
        yield from _too_many(node_type)
        yield from _split_cards(node_type)


def _too_many(each: Hardware) -> Iterator[Diagnostic]:
    """Yield what exceeds the number of cores, or of NUMA nodes."""
    has = f"a `{each.name}` has {counted(each.numa_nodes, 'NUMA node')}"
    if each.core_nodes > each.cores:
        message = f"{has} and {counted(each.cores, 'core')}"
        yield RULE.at(each.edited("numaNodes"), message)
    elif max(each.core_nodes, each.sockets) % min(each.core_nodes, each.sockets):
        message = f"{has} and {counted(each.sockets, 'socket')}"
        yield RULE.at(each.edited("numaNodes"), message)
    for nic in each.nics:
        if nic.numa >= each.numa_nodes:
            message = f"port {nic.pci} is on NUMA node {nic.numa}; {has}"
            notes = [Note("the number of NUMA nodes", each.stated("numaNodes"))]
            yield RULE.at(nic.at / "numa", message, notes=notes)


def _split_cards(each: Hardware) -> Iterator[Diagnostic]:
    """Yield each port on another NUMA node than the port before it on the same card."""
    for _, ports in groupby(placed(each), key=_card):
        for one, two in pairwise(ports):
            if one.numa != two.numa:
                message = (
                    f"ports {one.pci} and {two.pci} of one card are on NUMA nodes "
                    f"{one.numa} and {two.numa}"
                )
                notes = [Note("the other port", one.at / "numa")]
                yield RULE.at(two.at / "numa", message, notes=notes)


def _card(nic: Nic) -> str:
    """Return the PCI address of a port's card: the port's own without the function number."""
    return nic.pci.rpartition(".")[0]


CHECK = Check(RULE, find)
