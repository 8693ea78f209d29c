"""Look up names of one profile in another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv4Network
from typing import Any, TypeVar

from trainyard.diagnostics import Pointer
from trainyard.model.nearest import nearest
from trainyard.model.other_release import Releases
from trainyard.model.release import Release
from trainyard.resolve.findings import Resolving, Unresolved
from trainyard.rules.references.unknown_name import RULE as UNKNOWN_NAME
from trainyard.rules.shape.bad_address import RULE as BAD_ADDRESS

T = TypeVar("T")
NOWHERE = IPv4Network("0.0.0.0/32")
"""Replaces an address range that can't be read; it overlaps with no other."""

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
    "topology": "No job is placed by it: Kueue reports `there is no Topology` for the flavor.",
    "storage": (
        "No claim or Secret is generated for it, so pods that mount it stay Pending, or fail."
    ),
}
"""Consequence of an unknown name by its kind."""


def find(
    kind: str, name: str, known: Mapping[str, T | None], at: Pointer, *, instead: str = ""
) -> Resolving[T | None]:
    """Return what a name refers to; None, and a finding, where that is not known.

    Args:
        kind: of what has the name, e.g. ``release``, or ``storage of cluster lab``.
        name: to look up.
        known: all that exist; None for one that was left out or can't be resolved.
        at: place of the name.
        instead: another way than to write a known name, a sentence of the help.
    """
    if name in known:
        if known[name] is None:
            yield Unresolved(at)
        return known[name]
    noun, *owner = kind.split(" of ")
    message = " of ".join([f"there is no {noun} `{name}`", *owner])
    found = UNKNOWN_NAME.at(at, message, hint=_hint(kind, name, known, instead))
    yield replace(found, consequence=_CONSEQUENCES[noun])
    return None


def find_release(name: str, releases: Releases, at: Pointer) -> Resolving[Release | None]:
    """Return a release; None, and a finding, where there is none of that name.

    Args:
        name: to look up.
        releases: all that there are, and versions that none is for.
        at: place of the name.
    """
    other = releases.other(name)
    if other is None:
        instead = "Another one is made by `trainyard release new`."
        return (yield from find("release", name, releases.known, at, instead=instead))
    message = f"there is no release `{name}`: {other.reason}"
    found = UNKNOWN_NAME.at(at, message, hint=other.instead)
    yield replace(found, consequence=_CONSEQUENCES["release"])
    return None


def _hint(kind: str, name: str, known: Mapping[str, Any], instead: str) -> str:
    """Return the help: the nearest known name or all of them, then the other way as a sentence."""
    near, known_names = nearest(name, known), ", ".join(sorted(known))
    first = f"there is: {known_names}" if known else f"no {kind} is defined yet"
    if near:
        first = f"did you mean `{near}`?"
    if not instead:
        return first
    return f"{first}{'' if near else '.'} {instead}"


def network(text: str, at: Pointer) -> Resolving[IPv4Network | None]:
    """Return an IPv4 network; None, and a finding, if the text is not one."""
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
