"""From the fields of a cluster, and its release, to the name servers of its pods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv4Address
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model.dns import Dns
from trainyard.model.release import Release
from trainyard.resolve.findings import Resolving
from trainyard.resolve.references import NOWHERE
from trainyard.rules.shape.bad_name_server import RULE as BAD_NAME_SERVER


def resolve_dns(fields: Mapping[str, Any], at: Pointer, release: Release) -> Resolving[Dns]:
    """Return who resolves names on a cluster: the release's pods where the profile names none."""
    stated, usual = fields.get("dns", {}), release.dns
    addresses = []
    for i, text in enumerate(stated.get("addresses", ())):
        addresses.append((yield from _address(text, at / "addresses" / i)))
    return replace(
        usual,
        at=at,
        namespace=stated.get("namespace", usual.namespace),
        labels=dict(sorted(stated.get("labels", usual.labels).items())),
        ports=tuple(stated.get("ports", usual.ports)),
        addresses=tuple(addresses),
    )


def _address(text: str, at: Pointer) -> Resolving[IPv4Address]:
    """Return the address of a host; that of none, and a finding, if no pod can ask there."""
    try:
        address = IPv4Address(text)
    except ValueError as problem:
        yield BAD_NAME_SERVER.at(at, f"`{text}` is not an address: {problem}")
        return NOWHERE.network_address
    if address.is_loopback:
        yield BAD_NAME_SERVER.at(at, f"`{text}` is the pod itself, whoever asks")
    elif address.is_unspecified or address.is_multicast or address.is_reserved:
        yield BAD_NAME_SERVER.at(at, f"`{text}` is the address of no host")
    return address
