"""Find nodes whose ports are not the rails of their pool's hardware."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.differences import few
from trainyard.model.facts import Body, named, place_of
from trainyard.model.live import AFTER, Live
from trainyard.model.lookup import mappings, text
from trainyard.model.pool import Pool
from trainyard.model.readable import NODE_STATES, NODES
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/other-port",
    severity=Severity.ERROR,
    summary="Each node of a pool has the ports that its hardware profile states as rails.",
    why="""
        The SR-IOV operator makes no virtual function on a port that a policy does not meet. The
        node lacks a rail, and no job starts there.
    """,
    fix="""
        Correct the ports in the hardware profile, or repair the node; the log of the operator's
        daemon on it says what failed.
    """,
)


def find(live: Live) -> Iterator[Diagnostic]:
    states = named(live.of(NODE_STATES))
    for pool, nodes in live.pools():
        found: dict[str, list[str]] = {}
        for name in (place_of(node)[1] for node in nodes if pool.rails):
            for fault in _faults(states.get(name), pool, live.phase):
                found.setdefault(fault, []).append(name)
        for fault, among in sorted(found.items()):
            yield RULE.at(pool.at, f"nodes of pool `{pool.name}`: {fault}: {few(among)}")


def _faults(state: Body | None, pool: Pool, phase: str) -> Iterator[str]:
    """Yield what a node lacks."""
    if state is None:
        yield "the SR-IOV operator has no state of them"
        return
    if phase == AFTER and text(dict(state), "status", "syncStatus") == "Failed":
        yield "the SR-IOV operator failed to set them up"
    ports = mappings(dict(state), "status", "interfaces")
    for rail in pool.rails:
        wanted = ("pciAddress", rail.nic.pci) if rail.nic.pci else ("name", rail.nic.interface)
        port = next((each for each in ports if each.get(wanted[0]) == wanted[1]), None)
        yield from _differences(wanted[1], port, pool)


def _differences(place: str, port: Mapping[str, Any] | None, pool: Pool) -> Iterator[str]:
    """Yield how a port differs from a rail; what the operator does not say is right."""
    if port is None:
        yield f"no port {place}"
        return
    for key, value in _stated(pool):
        has = str(port.get(key) or value)
        if value and has.lower() != value.lower():
            yield f"port {place} has {key} {has}, not {value}"
    most, wanted = port.get("totalvfs"), pool.hardware.virtual_functions
    if isinstance(most, int) and most < wanted:
        yield f"port {place} has at most {most} of {wanted} virtual functions"


def _stated(pool: Pool) -> Iterator[tuple[str, str]]:
    """Yield what the profiles state of each rail, in the words of the operator."""
    yield "vendor", pool.hardware.nic_vendor
    yield "deviceID", pool.hardware.nic_device
    if pool.rail_fabric:
        yield "linkType", pool.rail_fabric.link.sriov_type


def _has_rails(live: Live) -> bool:
    return any(pool.rails for pool in live.site.cluster.pools)


LIVE = LiveCheck(RULE, find, (NODES, NODE_STATES), concerns=_has_rails)
