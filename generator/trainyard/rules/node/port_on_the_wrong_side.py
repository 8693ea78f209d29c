"""Find ports away from the others of their NUMA node, and rails that are split unevenly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain, groupby

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware
from trainyard.rules.node._numa import NO_EFFECT, placed

RULE = Rule(
    id="node/port-on-the-wrong-side",
    severity=Severity.WARNING,
    summary="""
        The ports of a NUMA node have neighbouring PCI addresses, and every NUMA node has the same
        number of rails.
    """,
    why=f"""
        {NO_EFFECT} Each NUMA node has a range of PCI buses and its part of the GPUs, so this is
        probably a mistake in the profile.
    """,
    fix="""
        Compare the value with `cat /sys/bus/pci/devices/<pci>/numa_node` on such a node; if it is
        right, waive this.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for node_type in hardware(platform):
        yield from _apart(node_type)
        sides = Counter(nic.numa for nic in node_type.rails)
        if _could_be_even(sides) and len(set(sides.values())) > 1:
            parts = (f"{count} on NUMA node {side}" for side, count in sorted(sides.items()))
            message = (
                f"the {counted(len(node_type.rails), 'rail')} of a `{node_type.name}` are split "
                f"unevenly: {' and '.join(parts)}"
            )
            yield RULE.at(node_type.at / "nics", message)


def _could_be_even(sides: Counter[int]) -> bool:
    """Return whether every rail's NUMA node is stated, and the rails divide among these nodes."""
    return bool(sides) and -1 not in sides and sides.total() % len(sides) == 0


def _apart(each: Hardware) -> Iterator[Diagnostic]:
    """Yield the ports of each NUMA node that are outside its longest run of PCI addresses."""
    runs = [list(run) for _, run in groupby(placed(each), key=lambda nic: nic.numa)]
    for side in sorted({run[0].numa for run in runs}):
        *short, longest = sorted((run for run in runs if run[0].numa == side), key=len)
        notes = [Note(f"another port of NUMA node {side}", longest[0].at / "numa")]
        for nic in chain.from_iterable(short):
            message = (
                f"port {nic.pci} of a `{each.name}` is on NUMA node {side}, but ports of another "
                f"NUMA node have PCI addresses between it and the other ports of node {side}"
            )
            yield RULE.at(nic.at / "numa", message, notes=notes)


CHECK = Check(RULE, find)
