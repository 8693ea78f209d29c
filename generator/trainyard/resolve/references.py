"""Following names from one profile to another."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from ipaddress import IPv4Network
from typing import Any, TypeVar

from trainyard.diagnostics import Pointer, Rule, Severity
from trainyard.resolve.findings import Resolving, Unresolved

T = TypeVar("T")
NOWHERE = IPv4Network("0.0.0.0/32")
"""Stands for an address range that can't be read: it meets no other."""

UNKNOWN_NAME = Rule(
    id="references/unknown-name",
    severity=Severity.ERROR,
    summary="""
        Each name in a profile is the name of a profile, or of an entry of the cluster, that exists.
    """,
    why="""
        The object would point at nothing: a ClusterQueue turns inactive (`references missing
        ResourceFlavor(s): <flavor>.`), and a job whose priority is missing has not even a Workload
        (both seen with Kueue 0.19.2).
    """,
    fix="Correct the name, or add what it stands for.",
)
INCOMPLETE_HARDWARE = Rule(
    id="shape/incomplete-hardware",
    severity=Severity.ERROR,
    summary="""
        A hardware profile, with what it extends, says everything that quota is computed from.
    """,
    why="""
        Without it a node's worth can't be computed, and a guessed quota leaves gangs admitted and
        Pending.
    """,
    fix="Give the field, or extend a preset that has it.",
)
BAD_ADDRESS = Rule(
    id="shape/bad-address",
    severity=Severity.ERROR,
    summary="An address range is an IPv4 network without host bits.",
    why="""
        The CNI plugin refuses the range and every pod that attaches to it stays in
        ContainerCreating.
    """,
    fix="Write the network's own address, e.g. 10.64.0.0/13.",
)
SEGMENTS_OF_ANOTHER_LINK = Rule(
    id="fabric/segments-of-another-link",
    severity=Severity.ERROR,
    summary="""
        A fabric hands out what separates teams on its link: partitions on infiniband, vlans on
        roce.
    """,
    why="""
        Partition keys mean nothing to an Ethernet switch, nor VLANs to a subnet manager: every team
        would be on one undivided network.
    """,
    fix="""
        Write `partitions: 0x0100-0x017f` with `link: infiniband`, `vlans: 100-199` with `link:
        roce`.
    """,
)
ALLOCATION_OF_ANOTHER_LINK = Rule(
    id="fabric/allocation-of-another-link",
    severity=Severity.ERROR,
    summary="""
        What a team holds on a fabric is what separates teams there: a partition on infiniband, a
        vlan on roce.
    """,
    why="""
        A partition key means nothing to an Ethernet switch, nor a VLAN to a subnet manager: read as
        the other's, the number may be that of another team, whose pods these would then reach.
    """,
    fix="""
        Write `partition: "0x0101"` on a fabric with `link: infiniband`, `vlan: 101` on one with
        `link: roce`.
    """,
)
QUOTA_SAID_TWICE = Rule(
    id="capacity/quota-said-twice",
    severity=Severity.ERROR,
    summary="A quota of a pool is said in nodes or, as a share of one node, in GPUs.",
    why="""
        Whichever is meant, the other would be dropped in silence, and the queue promise too much or
        nothing at all.
    """,
    fix="Write `nodes` or `gpus`; a team that only borrows has `nodes: 0`.",
)
AMBIGUOUS_STORAGE = Rule(
    id="shape/ambiguous-storage",
    severity=Severity.ERROR,
    summary="Each storage of a cluster has exactly one of `adopted`, `class`, `nfs` and `s3`.",
    why="""
        Claims, volumes and keys of teams differ by the kind of storage, so nothing is generated for
        any team.
    """,
    fix="Keep one of `adopted`, `class`, `nfs` and `s3`; define a second storage for another one.",
)
RULES = (
    AMBIGUOUS_STORAGE,
    UNKNOWN_NAME,
    INCOMPLETE_HARDWARE,
    BAD_ADDRESS,
    SEGMENTS_OF_ANOTHER_LINK,
    ALLOCATION_OF_ANOTHER_LINK,
    QUOTA_SAID_TWICE,
)


def find(kind: str, name: str, known: Mapping[str, T | None], at: Pointer) -> Resolving[T | None]:
    """Return what a name refers to; None, and a finding, where that is not known.

    Args:
        kind: of what has the name, e.g. ``release``, or ``storage of cluster lab``.
        name: to look up.
        known: all that exist; None for one that was left out or can't be resolved.
        at: place of the name.
    """
    if name in known:
        if known[name] is None:
            yield Unresolved(at)
        return known[name]
    noun, *owner = kind.split(" of ")
    message = " of ".join([f"there is no {noun} `{name}`", *owner])
    yield UNKNOWN_NAME.at(at, message, hint=_hint(kind, name, known))
    return None


def _hint(kind: str, name: str, known: Mapping[str, Any]) -> str:
    near = get_close_matches(name, known, n=1)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"there is: {', '.join(sorted(known))}" if known else f"no {kind} is defined yet"


def network(text: str, at: Pointer) -> Resolving[IPv4Network | None]:
    """Return an IPv4 network; None, and a finding, where a text is none."""
    try:
        return IPv4Network(text)
    except ValueError as problem:
        yield BAD_ADDRESS.at(at, f"`{text}` is not an address range: {problem}")
        return None
