"""Read which segments of the fabrics the namespaces attach to."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network
from typing import Any, NamedTuple

from trainyard.change.impact.sets import Ranges
from trainyard.change.impact.values import NONE
from trainyard.change.objects import Objects, Sides, of_kind
from trainyard.model.lookup import mapping, text
from trainyard.model.manifest import Manifest


class Attachment(NamedTuple):
    """A namespace's attachment to one rail.

    Args:
        segment: its partition or VLAN as text.
        addresses: range of the rail; empty when it is not known.
    """

    namespace: str
    fabric: str
    segment: str
    rail: int
    addresses: str


@dataclass(frozen=True, slots=True)
class AddressChange:
    """Rails of a segment on which new pods get other addresses.

    Args:
        namespaces: sorted.
        path: the segment and its rails, e.g. ``partition 0x0101 of fabric ib, rails 0-3``.
        before, after: address ranges after commas; ``none`` where they are not known.
    """

    namespaces: tuple[str, ...]
    path: str
    before: str
    after: str


def address_changes(sides: Sides) -> tuple[AddressChange, ...]:
    """Return the segments whose rails stay and have other addresses, sorted."""
    old, new = _by_place(sides.before), _by_place(sides.after)
    moved = [place for place in old.keys() & new.keys() if old[place] != new[place]]
    # Both have the same segments with the same rails, and so the same order.
    was, now = _segments(map(old.__getitem__, moved)), _segments(map(new.__getitem__, moved))
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for (space, path, ranges), (_, _, others) in zip(was, now, strict=True):
        found[path, ranges or NONE, others or NONE].append(space)
    return tuple(AddressChange(tuple(spaces), *each) for each, spaces in sorted(found.items()))


def attached(sides: Sides) -> Iterator[tuple[str, bool, str]]:
    """Yield (namespace, whether it is opened, path) of each segment with rails that come or go."""
    old, new = _by_place(sides.before), _by_place(sides.after)
    for opened, some, others in ((True, new, old), (False, old, new)):
        for namespace, path, ranges in _segments(
            map(some.__getitem__, some.keys() - others.keys())
        ):
            yield namespace, opened, f"{path}{ranges and f', {ranges}'}"


def _by_place(objects: Objects) -> dict[Attachment, Attachment]:
    """Return each attachment of a tree by what it is whatever its addresses are."""
    return {each._replace(addresses=""): each for each in attachments(objects)}


def attachments(objects: Objects) -> frozenset[Attachment]:
    """Return each attachment of a tree to a rail."""
    pools = {}
    for pool in of_kind(objects, "IPPool"):
        pools[pool.name] = text(pool.body, "spec", "subnet")
    found = set()
    for definition in of_kind(objects, "NetworkAttachmentDefinition"):
        found.add(_of_definition(definition, pools))
    for network in of_kind(objects, "SriovNetwork"):
        found.add(_of_network(network, pools))
    return frozenset(found)


def _segments(found: Iterable[Attachment]) -> Iterator[tuple[str, str, str]]:
    """Yield (namespace, path, address ranges) for each segment, with all of its rails."""
    segments: dict[tuple[str, str, str], list[Attachment]] = defaultdict(list)
    for each in sorted(found):
        segments[each.namespace, each.fabric, each.segment].append(each)
    for (namespace, fabric, segment), rails in sorted(segments.items()):
        numbers = Ranges.of((each.rail, each.rail) for each in rails)
        named = f"rail{'s' if len(rails) > 1 else ''} {numbers.display}"
        ranges = ", ".join(_collapsed(each.addresses for each in rails))
        yield namespace, f"{segment} of fabric {fabric}, {named}", ranges


_RAIL = re.compile(r"(?P<fabric>.+)-rail-(?P<rail>[0-9]+)")


def _of_definition(definition: Manifest, pools: Mapping[str, str]) -> Attachment:
    config = _json(text(definition.body, "spec", "config"))
    partition, vlan = text(config, "pkey"), mapping(config).get("vlan")
    segment = f"partition {partition}" if partition else f"VLAN {vlan}"
    return _attachment(definition.namespace, definition.name, segment, _range(config, pools))


def _of_network(network: Manifest, pools: Mapping[str, str]) -> Attachment:
    spec = mapping(network.body, "spec")
    namespace = text(spec, "networkNamespace")
    segment = f"VLAN {spec.get('vlan')}"
    ipam = {"ipam": _json(text(spec, "ipam"))}
    name = network.name.removeprefix(f"{namespace}-")
    return _attachment(namespace, name, segment, _range(ipam, pools))


def _attachment(namespace: str, name: str, segment: str, addresses: str) -> Attachment:
    match = _RAIL.fullmatch(name)
    fabric, rail = (match["fabric"], int(match["rail"])) if match else (name, 0)
    return Attachment(namespace, fabric, segment, rail, addresses)


def _range(config: Any, pools: Mapping[str, str]) -> str:
    """Return the addresses of a network, from its own configuration or its pool."""
    pool = text(config, "ipam", "poolName")
    return text(config, "ipam", "range") or pools.get(pool, "")


def _json(value: str) -> Any:
    """Return the value of a JSON text; None of any other text."""
    try:
        return json.loads(value)
    except ValueError:
        return None


def _collapsed(ranges: Iterable[str]) -> Iterator[str]:
    """Yield ranges joined where they touch; other texts as they are."""
    known: dict[int, list[Any]] = {4: [], 6: []}
    for each in sorted(set(filter(None, ranges))):
        try:
            network: IPv4Network | IPv6Network = ip_network(each)
        except ValueError:
            yield each
        else:
            known[network.version].append(network)
    for networks in known.values():
        yield from map(str, collapse_addresses(networks))
