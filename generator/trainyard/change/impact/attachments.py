"""Read which segments of the fabrics the namespaces attach to."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network
from typing import Any, NamedTuple

from trainyard.model.identity import Identity
from trainyard.model.lookup import mapping, text
from trainyard.model.manifest import Manifest

Objects = Mapping[Identity, Manifest]


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


def attachments(objects: Objects) -> frozenset[Attachment]:
    """Return each attachment of a tree to a rail."""
    pools = {
        key.name: text(each.body, "spec", "subnet")
        for key, each in objects.items()
        if key.kind == "IPPool"
    }
    found = []
    for key, each in objects.items():
        if key.kind == "NetworkAttachmentDefinition":
            found.append(_of_definition(key, _json(text(each.body, "spec", "config")), pools))
        elif key.kind == "SriovNetwork":
            found.append(_of_network(key, mapping(each.body, "spec"), pools))
    return frozenset(found)


def described(found: Iterable[Attachment]) -> Iterator[tuple[str, str]]:
    """Yield (namespace, path) for each segment, with all of its rails."""
    segments: dict[tuple[str, str, str], list[Attachment]] = defaultdict(list)
    for each in sorted(found):
        segments[each.namespace, each.fabric, each.segment].append(each)
    for (namespace, fabric, segment), rails in sorted(segments.items()):
        numbers = [each.rail for each in rails]
        named = f"rail {numbers[0]}" if len(numbers) == 1 else f"rails {_runs(numbers)}"
        ranges = ", ".join(_collapsed(each.addresses for each in rails))
        yield namespace, f"{segment} of fabric {fabric}, {named}{ranges and f', {ranges}'}"


_RAIL = re.compile(r"(?P<fabric>.+)-rail-(?P<rail>[0-9]+)")


def _of_definition(key: Identity, config: Any, pools: Mapping[str, str]) -> Attachment:
    partition, vlan = text(config, "pkey"), mapping(config).get("vlan")
    segment = f"partition {partition}" if partition else f"VLAN {vlan}"
    return _attachment(key.namespace, key.name, segment, _range(config, pools))


def _of_network(key: Identity, spec: Mapping[str, Any], pools: Mapping[str, str]) -> Attachment:
    namespace = text(spec, "networkNamespace")
    segment = f"VLAN {spec.get('vlan')}"
    ipam = {"ipam": _json(text(spec, "ipam"))}
    name = key.name.removeprefix(f"{namespace}-")
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


def _runs(numbers: list[int]) -> str:
    """Return sorted numbers as text, e.g. ``0-7`` or ``0, 2``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)


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
