"""Resolve the fabrics of a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model.fabric import Fabric
from trainyard.model.link import LINKS
from trainyard.resolve.findings import Resolving
from trainyard.resolve.references import NOWHERE, network
from trainyard.rules.fabric.segments_of_another_link import RULE as SEGMENTS_OF_ANOTHER_LINK


def resolve_fabrics(fields: Mapping[str, Any], at: Pointer) -> Resolving[tuple[Fabric, ...]]:
    """Return the fabrics of a cluster, by name.

    Args:
        fields: of the cluster's profile.
        at: place of its fabrics.
    """
    fabrics = []
    for name, fabric in sorted(fields.get("fabrics", {}).items()):
        yield from _segments_of_another_link(name, fabric, at / name)
        addresses = yield from network(fabric["addresses"], at / name / "addresses")
        fabrics.append(_fabric(name, fabric, at / name, addresses or NOWHERE))
    return tuple(fabrics)


def _segments_of_another_link(
    name: str, fabric: Mapping[str, Any], at: Pointer
) -> Iterator[Diagnostic]:
    """Yield the ranges of a fabric that are not those of its link, or the one that is absent."""
    link = LINKS[fabric["link"]]
    stated = [known for known in LINKS.values() if known.ranges in fabric]
    for other in stated:
        if other is not link:
            own = f"fabric `{name}` is {link.name}, whose range is `{link.ranges}`"
            at_range = (at / other.ranges).key()
            yield SEGMENTS_OF_ANOTHER_LINK.at(at_range, f"{own}, not `{other.ranges}`")
    if not stated:
        message = f"fabric `{name}` is {link.name} and has no `{link.ranges}`"
        yield SEGMENTS_OF_ANOTHER_LINK.at((at / link.ranges).key(), message)


def _fabric(name: str, fabric: Mapping[str, Any], at: Pointer, addresses: IPv4Network) -> Fabric:
    link = LINKS[fabric["link"]]
    first, last = link.first, link.last
    if link.ranges in fabric:
        # Hex keys have their prefix, VLANs are decimal.
        first, last = (int(end, 0) for end in fabric[link.ranges].split("-"))
    return Fabric(
        name=name,
        at=at,
        link=link,
        first_segment=first,
        last_segment=last,
        addresses=addresses,
        block=fabric["block"],
        mtu=fabric.get("mtu", 0),
        traffic_class=fabric.get("trafficClass", -1),
        resources=fabric.get("resources", name),
    )
