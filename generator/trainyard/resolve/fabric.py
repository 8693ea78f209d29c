"""Resolve the fabrics of a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model.fabric import BLOCK, DeviceFabric, Fabric, RailFabric
from trainyard.model.link import LINKS, Link
from trainyard.model.provider import Provider, Request
from trainyard.model.providers import PROVIDERS
from trainyard.model.refusal import REFUSALS
from trainyard.resolve.findings import Resolving
from trainyard.resolve.references import NOWHERE, network
from trainyard.rules.fabric.fields_of_another_link import RULE as FIELDS_OF_ANOTHER_LINK
from trainyard.rules.fabric.segments_of_another_link import RULE as SEGMENTS_OF_ANOTHER_LINK
from trainyard.rules.fabric.unsupported_link import RULE as UNSUPPORTED_LINK

_OF_RAILS = ("addresses", "block", "mtu", "trafficClass", "resources", "physical")
"""Fields that only fabrics with rails have, beside the range of their link."""

_OF_DEVICES = ("devices", "network", "networks")
"""Fields of fabrics whose devices or networks others make under names of their own."""


def resolve_fabrics(fields: Mapping[str, Any], at: Pointer) -> Resolving[dict[str, Fabric | None]]:
    """Return the fabrics of a cluster by name; None for one of a kind that is not supported.

    Args:
        fields: of the cluster's profile.
        at: place of its fabrics.
    """
    fabrics: dict[str, Fabric | None] = {}
    for name, stated in sorted(fields.get("fabrics", {}).items()):
        fabrics[name] = yield from _fabric(name, stated, at / name)
    return fabrics


def _fabric(name: str, stated: Mapping[str, Any], at: Pointer) -> Resolving[Fabric | None]:
    provider = PROVIDERS.get(stated["link"])
    if provider is None:
        yield _unsupported(name, stated["link"], at)
        return None
    if provider.link is None:
        yield from _fields_of_rails(name, stated, provider, at)
        if provider.named and provider.named not in stated:
            message = f"fabric `{name}` is {provider.name} and has no `{provider.named}`"
            yield FIELDS_OF_ANOTHER_LINK.at(at.key(), message)
            return None
        return _on_devices(Fabric(name, at, provider), stated)
    yield from _segments_of_another_link(name, stated, provider.link, at)
    if "addresses" not in stated:
        message = f"fabric `{name}` is {provider.name} and has no `addresses`"
        yield FIELDS_OF_ANOTHER_LINK.at(at.key(), message)
        return None
    addresses = yield from network(stated["addresses"], at / "addresses")
    plain = Fabric(name, at, provider)
    return _on_rails(plain, provider.link, stated, addresses or NOWHERE)


def _unsupported(name: str, link: str, at: Pointer) -> Diagnostic:
    """Return the finding of a link that no provider has: with the reason where it is known."""
    place = at / "link"
    known = ", ".join(sorted(PROVIDERS))
    if refusal := REFUSALS.get(link):
        message = f"fabric `{name}`: {refusal.title} is not supported. {refusal.reason}"
        hint = f"{refusal.instead} `docs/reference/platforms.md#fabrics` has a line for each kind."
        return UNSUPPORTED_LINK.at(place, message, hint=hint)
    message = f"fabric `{name}` has the link `{link}`, which Trainyard does not know"
    hint = f"There is: {known}. For a network of another kind, leave `fabric` of the pool out."
    return UNSUPPORTED_LINK.at(place, message, hint=hint)


def _fields_of_rails(
    name: str, stated: Mapping[str, Any], provider: Provider, at: Pointer
) -> Iterator[Diagnostic]:
    """Yield each field of a fabric without rails that only one with rails has."""
    ranges = tuple(link.ranges for link in LINKS.values())
    foreign = [*_OF_RAILS, *ranges, *_unnamed(provider)]
    for field in (field for field in foreign if field in stated):
        owner = f"fabric `{name}` is {provider.name}, whose networks belong to "
        message = f"{owner}{provider.network_owner}, and has `{field}`"
        yield FIELDS_OF_ANOTHER_LINK.at((at / field).key(), message)


def _unnamed(provider: Provider) -> tuple[str, ...]:
    """Return the fields of devices that a fabric of a provider has no name for."""
    attached = ("network",) if provider.named and provider.request is Request.DEVICES else ()
    return tuple(each for each in _OF_DEVICES if each not in (provider.named, *attached))


def _on_devices(plain: Fabric, stated: Mapping[str, Any]) -> DeviceFabric:
    return DeviceFabric(
        name=plain.name,
        at=plain.at,
        provider=plain.provider,
        devices=plain.provider.devices or stated.get("devices", ""),
        network=stated.get("network", ""),
        networks=tuple(stated.get("networks", ())),
    )


def _segments_of_another_link(
    name: str, fabric: Mapping[str, Any], link: Link, at: Pointer
) -> Iterator[Diagnostic]:
    """Yield the ranges of a fabric that are not those of its link, or the one that is absent."""
    stated = [known for known in LINKS.values() if known.ranges in fabric]
    for other in stated:
        if other is not link:
            own = f"fabric `{name}` is {link.name}, whose range is `{link.ranges}`"
            at_range = (at / other.ranges).key()
            yield SEGMENTS_OF_ANOTHER_LINK.at(at_range, f"{own}, not `{other.ranges}`")
    if not stated:
        message = f"fabric `{name}` is {link.name} and has no `{link.ranges}`"
        yield SEGMENTS_OF_ANOTHER_LINK.at((at / link.ranges).key(), message)
    yield from _fields_of_devices(name, fabric, link, at)


def _fields_of_devices(
    name: str, fabric: Mapping[str, Any], link: Link, at: Pointer
) -> Iterator[Diagnostic]:
    """Yield each field of a fabric with rails that only one of given devices has."""
    for field in _OF_DEVICES:
        if field in fabric:
            owner = f"fabric `{name}` is {link.name}, whose devices the tree makes"
            message = f"{owner}, and has `{field}`"
            yield FIELDS_OF_ANOTHER_LINK.at((at / field).key(), message)


def _on_rails(
    plain: Fabric, link: Link, fabric: Mapping[str, Any], addresses: IPv4Network
) -> RailFabric:
    first, last = link.first, link.last
    if link.ranges in fabric:
        # Hex keys have their prefix, VLANs are decimal.
        first, last = (int(end, 0) for end in fabric[link.ranges].split("-"))
    return RailFabric(
        name=plain.name,
        at=plain.at,
        provider=plain.provider,
        link=link,
        first_segment=first,
        last_segment=last,
        addresses=addresses,
        block=fabric.get("block", BLOCK),
        mtu=fabric.get("mtu", 0),
        traffic_class=fabric.get("trafficClass", -1),
        resources=fabric.get("resources", plain.name),
        physical=fabric.get("physical", ""),
    )
