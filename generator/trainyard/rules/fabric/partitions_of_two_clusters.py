"""Find partitions and VLANs that two teams have on two clusters whose fabrics may be one."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import Held, held_by_network

RULE = Rule(
    id="fabric/partitions-of-two-clusters",
    severity=Severity.WARNING,
    summary="""
        Two clusters give no partition or VLAN to two teams, unless `physical` says that their
        fabrics are two networks.
    """,
    why="""
        If one subnet manager, or the same switches, serve both fabrics, the two teams are on one
        network: RDMA passes between their jobs, and no NetworkPolicy applies to it.
    """,
    fix="""
        Name the network of each fabric, e.g. `physical: hall-a`: one name if cables connect them,
        else two. Where it is one, give the newer team a number that no team has ever had.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    known: dict[tuple[str, int], list[Held]] = {}
    for each in (held for network in held_by_network(platform) for held in network):
        others = known.setdefault((each.fabric.link.name, each.numbers.segment), [])
        other = next((other for other in others if _may_meet(other, each)), None)
        others.append(each)
        if other:
            yield _of_two(other, each)


def _may_meet(first: Held, second: Held) -> bool:
    """Whether two clusters' teams may be on one network, as far as anybody says."""
    stated = bool(first.fabric.physical and second.fabric.physical)
    return first.site is not second.site and first.team != second.team and not stated


def _of_two(first: Held, second: Held) -> Diagnostic:
    link = second.fabric.link
    message = (
        f"{link.segment} {link.display(second.numbers.segment)} is that of "
        f"{second.holder(first)} and of {first.holder(second)}; whether both fabrics are one "
        f"network is not stated"
    )
    notes = [Note(f"the {link.segment} of team {first.team}", first.numbers.at)]
    return RULE.at(second.numbers.at / link.field, message, notes=notes)


CHECK = Check(RULE, find)
