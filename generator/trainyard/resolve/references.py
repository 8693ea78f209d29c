"""Look up names of one profile in another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv4Network
from typing import Any, TypeVar

from trainyard.diagnostics import Pointer, Rule, Severity
from trainyard.model.nearest import nearest
from trainyard.resolve.findings import Resolving, Unresolved

T = TypeVar("T")
NOWHERE = IPv4Network("0.0.0.0/32")
"""Replaces an address range that can't be read; it overlaps with no other."""

UNKNOWN_NAME = Rule(
    id="references/unknown-name",
    severity=Severity.ERROR,
    summary="""
        Each name in a profile is the name of a profile, or of an entry of the cluster, that exists.
    """,
    why="""
        What has the name refers to nothing, and the finding names what happens then. For example, a
        ClusterQueue turns inactive (`references missing ResourceFlavor(s): <flavor>.`), and a job
        whose priority is missing does not even get a Workload (both seen with Kueue 0.19.2).
    """,
    fix="Correct the name, or add the profile or entry that it names.",
)
_HARDWARE = "What a node has is unknown, so neither quota nor runtimes can be computed for it."
_CONSEQUENCES = {
    "cluster": "No cluster gets anything of this entry.",
    "cohort": (
        "Kueue makes an empty cohort of this name: nothing is borrowed from the intended cohort or "
        "lent to it."
    ),
    "component": "No unit can be built with it, because the folder does not exist.",
    "fabric": "No network is generated for it, so pods that ask for one stay in ContainerCreating.",
    "compliance profile": "No evidence is generated for the regulation.",
    "hardware profile": _HARDWARE,
    "hardware profile or preset": _HARDWARE,
    "node pool": (
        "The ClusterQueue turns inactive: `references missing ResourceFlavor(s): <flavor>.` (seen "
        "with Kueue 0.19.2)."
    ),
    "priority": "A job with this priority does not even get a Workload (seen with Kueue 0.19.2).",
    "priority class": "The limit holds for no job, and jobs of the intended priority may wait 24h.",
    "pull secret": (
        "Pods name a Secret that does not exist, so the registry refuses to give them a private "
        "image."
    ),
    "release": "Nothing is generated for the cluster, because its versions are unknown.",
    "runtime": "A TrainJob that names it is refused, because no runtime is generated for it.",
    "storage": (
        "No claim or Secret is generated for it, so pods that mount it stay Pending, or fail."
    ),
}
"""Consequence of an unknown name by its kind."""
INCOMPLETE_HARDWARE = Rule(
    id="shape/incomplete-hardware",
    severity=Severity.ERROR,
    summary="""
        A hardware profile, with what it extends, has every field that quota is computed from.
    """,
    why="""
        Without the field the allocatable of a node can't be computed, and a guessed quota leaves
        gangs admitted and Pending.
    """,
    fix="Give the field, or extend a preset that has it.",
)
BAD_ADDRESS = Rule(
    id="shape/bad-address",
    severity=Severity.ERROR,
    summary="An address range is an IPv4 network without host bits.",
    why="""
        Every pod that attaches to the range stays in ContainerCreating, because the CNI plugin
        refuses it.
    """,
    fix="Write the network's own address, e.g. 10.64.0.0/13.",
)
SEGMENTS_OF_ANOTHER_LINK = Rule(
    id="fabric/segments-of-another-link",
    severity=Severity.ERROR,
    summary="""
        A fabric has a range of the segments of its link: `partitions` on infiniband, `vlans` on
        roce.
    """,
    why="""
        Every team is on one undivided network: partition keys mean nothing to an Ethernet switch,
        and VLANs mean nothing to a subnet manager.
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
        A team's allocation on a fabric has a segment of the fabric's link: a `partition` on
        infiniband, a `vlan` on roce.
    """,
    why="""
        The team's pods may be on the network of another team: a number that is read as a segment of
        the wrong link may be that team's.
    """,
    fix="""
        Write `partition: "0x0101"` on a fabric with `link: infiniband`, `vlan: 101` on one with
        `link: roce`.
    """,
)
QUOTA_DEFINED_TWICE = Rule(
    id="capacity/quota-defined-twice",
    severity=Severity.ERROR,
    summary="A quota of a pool is in nodes or, as a share of one node, in GPUs or cores.",
    why="""
        The queue has too much quota or none: one of the numbers is silently dropped.
    """,
    fix="Write one of `nodes`, `gpus` and `cores`; a team that only borrows has `nodes: 0`.",
)
AMBIGUOUS_STORAGE = Rule(
    id="shape/ambiguous-storage",
    severity=Severity.ERROR,
    summary="Each storage of a cluster has exactly one of `adopted`, `class`, `nfs` and `s3`.",
    why="""
        No claim, volume or key is generated for any team, because they differ by the kind of
        storage.
    """,
    fix="Keep one of `adopted`, `class`, `nfs` and `s3`; define a second storage for another.",
)
RULES = (
    AMBIGUOUS_STORAGE,
    UNKNOWN_NAME,
    INCOMPLETE_HARDWARE,
    BAD_ADDRESS,
    SEGMENTS_OF_ANOTHER_LINK,
    ALLOCATION_OF_ANOTHER_LINK,
    QUOTA_DEFINED_TWICE,
)


def find(
    kind: str, name: str, known: Mapping[str, T | None], at: Pointer, *, instead: str = ""
) -> Resolving[T | None]:
    """Return what a name refers to; None, and a finding, where that is not known.

    Args:
        kind: of what has the name, e.g. ``release``, or ``storage of cluster lab``.
        name: to look up.
        known: all that exist; None for one that was left out or can't be resolved.
        at: place of the name.
        instead: another way than to write a known name, for the help.
    """
    if name in known:
        if known[name] is None:
            yield Unresolved(at)
        return known[name]
    noun, *owner = kind.split(" of ")
    message = " of ".join([f"there is no {noun} `{name}`", *owner])
    found = UNKNOWN_NAME.at(at, message, hint=_hint(kind, name, known) + instead)
    yield replace(found, consequence=_CONSEQUENCES[noun])
    return None


def _hint(kind: str, name: str, known: Mapping[str, Any]) -> str:
    if near := nearest(name, known):
        return f"did you mean `{near}`?"
    return f"there is: {', '.join(sorted(known))}" if known else f"no {kind} is defined yet"


def network(text: str, at: Pointer) -> Resolving[IPv4Network | None]:
    """Return an IPv4 network; None, and a finding, where a text is none."""
    try:
        return IPv4Network(text)
    except ValueError as problem:
        message = f"`{text}` is not an address range: {problem}"
        yield BAD_ADDRESS.at(at, message, hint=_own_address(text))
        return None


def _own_address(text: str) -> str:
    """Return what to write for a range with host bits; empty for another text."""
    try:
        return f"Write `{IPv4Network(text, strict=False)}`, the network's own address."
    except ValueError:
        return ""
