"""NUMA nodes of ports: what a node can't have, and what looks like a slip."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby, pairwise

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.hardware import Hardware, Nic
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules._walk import hardware

_NOTHING_PINS = (
    "Nothing on the cluster uses the number: a pod has a virtual function of each rail, and kubelet aligns GPUs and"
    " cores where it can. People who place data loaders or choose a port by it use the wrong one."
)
IMPOSSIBLE_NUMA = Rule(
    id="node/impossible-numa",
    severity=Severity.ERROR,
    summary="A port is on one of the node's NUMA nodes, the same for all ports of a card; each NUMA node has a core.",
    why=_NOTHING_PINS,
    fix="Take the numbers from `lscpu` and `cat /sys/bus/pci/devices/<pci>/numa_node` on such a node.",
)
PORT_ON_THE_WRONG_SIDE = Rule(
    id="node/port-on-the-wrong-side",
    severity=Severity.WARNING,
    summary="The ports of a NUMA node have neighbouring PCI addresses, and NUMA nodes have as many rails each.",
    why=f"Each NUMA node has a range of PCI buses and its part of the GPUs, so this is likely a slip. {_NOTHING_PINS}",
    fix="Compare it with `cat /sys/bus/pci/devices/<pci>/numa_node` on such a node; waive this if it is so.",
)


def impossible_numa(platform: Platform) -> Iterator[Diagnostic]:
    """Compare each port with the number of NUMA nodes, then with the card's other ports."""
    for each in hardware(platform):
        has = f"a `{each.name}` has {counted(each.numa_nodes, 'NUMA node')}"
        if each.numa_nodes > each.cores:
            message = f"{has} and {counted(each.cores, 'core')}"
            yield IMPOSSIBLE_NUMA.at(each.stated("numaNodes"), message)
        for nic in each.nics:
            if nic.numa >= each.numa_nodes:
                notes = [Note("how many it has", each.stated("numaNodes"))]
                yield IMPOSSIBLE_NUMA.at(
                    nic.at / "numa", f"port {nic.pci} is on NUMA node {nic.numa}; {has}", notes=notes
                )
        for _, ports in groupby(_placed(each), key=lambda nic: nic.pci.rpartition(".")[0]):
            for one, two in pairwise(ports):
                if one.numa != two.numa:
                    message = f"ports {one.pci} and {two.pci} of one card are on NUMA nodes {one.numa} and {two.numa}"
                    yield IMPOSSIBLE_NUMA.at(two.at / "numa", message, notes=[Note("the other", one.at / "numa")])


def _placed(each: Hardware) -> list[Nic]:
    """Return the ports whose NUMA node is stated, by PCI address."""
    return sorted((nic for nic in each.nics if nic.numa >= 0), key=lambda nic: nic.pci)


def port_on_the_wrong_side(platform: Platform) -> Iterator[Diagnostic]:
    """Find NUMA nodes whose ports are apart, and tell all but the largest group; then rails that are split unevenly."""
    for each in hardware(platform):
        yield from _apart(each)
        sides = Counter(nic.numa for nic in each.rails)
        if len(set(sides.values())) > 1 and -1 not in sides and len(each.rails) % len(sides) == 0:
            told = " and ".join(f"{count} on NUMA node {side}" for side, count in sorted(sides.items()))
            message = f"the {counted(len(each.rails), 'rail')} of a `{each.name}` are split unevenly: {told}"
            yield PORT_ON_THE_WRONG_SIDE.at(each.at / "nics", message)


def _apart(each: Hardware) -> Iterator[Diagnostic]:
    runs = [list(run) for _, run in groupby(_placed(each), key=lambda nic: nic.numa)]
    for side in sorted({run[0].numa for run in runs}):
        apart = sorted((run for run in runs if run[0].numa == side), key=len)
        for nic in (nic for run in apart[:-1] for nic in run):
            message = f"port {nic.pci} of a `{each.name}` is on NUMA node {side}, but ports of another NUMA node lie"
            message += f" between it and the others of node {side}"
            notes = [Note(f"another port of NUMA node {side}", apart[-1][0].at / "numa")]
            yield PORT_ON_THE_WRONG_SIDE.at(nic.at / "numa", message, notes=notes)


CHECKS = (Check(IMPOSSIBLE_NUMA, impossible_numa), Check(PORT_ON_THE_WRONG_SIDE, port_on_the_wrong_side))
