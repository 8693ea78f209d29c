"""Compare each port with the number of NUMA nodes, then with the card's other ports."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware
from trainyard.rules.node._numa import NOTHING_PINS, placed

RULE = Rule(
    id="node/impossible-numa",
    severity=Severity.ERROR,
    summary="""
        A port is on one of the node's NUMA nodes, the same for all ports of a card; each NUMA node
        has a core.
    """,
    why=NOTHING_PINS,
    fix="""
        Take the numbers from `lscpu` and `cat /sys/bus/pci/devices/<pci>/numa_node` on such a node.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        has = f"a `{each.name}` has {counted(each.numa_nodes, 'NUMA node')}"
        if each.numa_nodes > each.cores:
            message = f"{has} and {counted(each.cores, 'core')}"
            yield RULE.at(each.stated("numaNodes"), message)
        for nic in each.nics:
            if nic.numa >= each.numa_nodes:
                notes = [Note("how many it has", each.stated("numaNodes"))]
                yield RULE.at(
                    nic.at / "numa",
                    f"port {nic.pci} is on NUMA node {nic.numa}; {has}",
                    notes=notes,
                )
        for _, ports in groupby(placed(each), key=lambda nic: nic.pci.rpartition(".")[0]):
            for one, two in pairwise(ports):
                if one.numa != two.numa:
                    message = (
                        f"ports {one.pci} and {two.pci} of one card are on NUMA nodes "
                        f"{one.numa} and {two.numa}"
                    )
                    yield RULE.at(
                        two.at / "numa", message, notes=[Note("the other", one.at / "numa")]
                    )


CHECK = Check(RULE, find)
