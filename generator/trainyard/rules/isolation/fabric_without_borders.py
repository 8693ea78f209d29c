"""Find teams that share nodes of a fabric which does not keep them apart."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.neighbours import Neighbours, neighbours
from trainyard.model.platform import Platform
from trainyard.model.provider import Separation
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/fabric-without-borders",
    severity=Severity.ERROR,
    summary="""
        One team uses RDMA on each part of a fabric that the fabric itself keeps apart: on a pool,
        where others make its network, and on the whole fabric, where every pod shares the devices.
    """,
    why="""
        A job of one team reaches the memory that jobs of another have registered: RDMA passes
        between the teams, and neither a NetworkPolicy nor an admission policy applies to it.
    """,
    fix="Give each team a pool of its own, or runtimes with `fabric: tcp`.",
    waivable=True,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for group in neighbours(site):
            if len(group.tenants) > 1:
                yield _shared(group)


def _shared(group: Neighbours) -> Diagnostic:
    *first, last = (tenant.name for tenant in group.tenants)
    message = (
        f"teams {', '.join(first)} and {last} use fabric `{group.fabric.name}` on {group.name}, "
        f"and {_border(group)}"
    )
    notes = [
        Note(f"the quota of team {tenant.name}", flavor.quota.place)
        for tenant in group.tenants
        for flavor in tenant.flavors
        if flavor.pool in group.pools
    ]
    place = group.pools[0].at / "fabric"
    return RULE.at(place, message, hint=_hint(group), notes=notes)


def _border(group: Neighbours) -> str:
    provider = group.fabric.provider
    if provider.separation is Separation.POOLS:
        return f"{provider.name} keeps pools apart, not teams"
    return f"{provider.name} keeps nothing apart"


def _hint(group: Neighbours) -> str:
    """Return the help: what a site can do that does not control the network."""
    provider, tcp = group.fabric.provider, "list runtimes with `fabric: tcp` for all teams but one"
    last = "if the teams may read each other's data, waive this with that as the reason"
    if provider.separation is Separation.POOLS:
        own = f"Give each team a pool of its own, with {provider.separated_by}"
        return f"{own}; or {tcp}; or, {last}."
    return f"Give each team a cluster of its own; or {tcp}; or, {last}."


CHECK = Check(RULE, find, each=("quota", "runtimes"))
