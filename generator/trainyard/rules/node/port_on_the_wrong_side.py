"""Find NUMA nodes whose ports are apart, and tell all but the largest group; then rails that are split unevenly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware
from trainyard.rules.node._numa import NOTHING_PINS, placed

RULE = Rule(
    id="node/port-on-the-wrong-side",
    severity=Severity.WARNING,
    summary="""
        The ports of a NUMA node have neighbouring PCI addresses, and NUMA nodes have as many rails
        each.
    """,
    why=f"""
        Each NUMA node has a range of PCI buses and its part of the GPUs, so this is likely a slip.
        {NOTHING_PINS}
    """,
    fix="""
        Compare it with `cat /sys/bus/pci/devices/<pci>/numa_node` on such a node; waive this if it
        is so.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        yield from _apart(each)
        sides = Counter(nic.numa for nic in each.rails)
        if len(set(sides.values())) > 1 and -1 not in sides and len(each.rails) % len(sides) == 0:
            told = " and ".join(
                f"{count} on NUMA node {side}" for side, count in sorted(sides.items())
            )
            message = (
                f"the {counted(len(each.rails), 'rail')} of a `{each.name}` are split "
                f"unevenly: {told}"
            )
            yield RULE.at(each.at / "nics", message)


def _apart(each: Hardware) -> Iterator[Diagnostic]:
    runs = [list(run) for _, run in groupby(placed(each), key=lambda nic: nic.numa)]
    for side in sorted({run[0].numa for run in runs}):
        apart = sorted((run for run in runs if run[0].numa == side), key=len)
        for nic in (nic for run in apart[:-1] for nic in run):
            message = (
                f"port {nic.pci} of a `{each.name}` is on NUMA node {side}, but ports of "
                "another NUMA node lie"
            )
            message += f" between it and the others of node {side}"
            notes = [Note(f"another port of NUMA node {side}", apart[-1][0].at / "numa")]
            yield RULE.at(nic.at / "numa", message, notes=notes)


CHECK = Check(RULE, find)
