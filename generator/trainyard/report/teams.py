"""The section with a table of all teams."""

from __future__ import annotations

from collections.abc import Iterator

from htpy import Element, Node, code, span

from trainyard.model.space import Grant
from trainyard.model.tenant import Tenant
from trainyard.report.content import Content
from trainyard.report.elements import badge, grid, note, part

_HEAD = (
    "team",
    "cluster",
    "quota",
    "#GPUs",
    "#largest job",
    "runtimes",
    "partition or VLAN",
    "namespaces",
    "contact",
)


def teams(content: Content) -> Element:
    """Return the section."""
    tenants = [tenant for cluster in content.clusters for tenant in cluster.site.tenants]
    tenants.sort(key=lambda tenant: (tenant.name, tenant.cluster.name))
    return part(
        "teams",
        "Teams",
        grid("Teams on their clusters", _HEAD, map(_row, tenants)),
        note(
            "The largest job that the admission policy lets through, launcher included: nodes, or "
            "pods on a share of a node."
        ),
    )


def _row(tenant: Tenant) -> tuple[Node, ...]:
    state = tenant.team.state
    return (
        tenant.name if state == "active" else [tenant.name, " ", badge("warned", state)],
        tenant.cluster.name,
        [span(".whole")[f"{pool}: {amount} "] for pool, amount in _quotas(tenant)],
        sum(int(flavor.quota.nodes * flavor.pool.hardware.gpus) for flavor in tenant.flavors),
        0
        if tenant.team.is_draining
        else max((grant.nodes for grant in _granted(tenant)), default=0),
        ", ".join(_runtimes(tenant)),
        ", ".join(sorted(_segments(tenant))),
        [[code[space.namespace], " "] for space in tenant.spaces],
        tenant.team.contact,
    )


def _quotas(tenant: Tenant) -> Iterator[tuple[str, str]]:
    """Yield each pool with what the team owns of it."""
    for flavor in tenant.flavors:
        quota = flavor.quota
        until = f" until {quota.term.until}" if quota.term else ""
        yield quota.pool, f"{quota.display(quota.nodes)}{until}"


def _runtimes(tenant: Tenant) -> list[str]:
    """Return the runtimes that some namespace of the team may use."""
    return sorted({grant.launch.runtime.name for grant in _granted(tenant)})


def _granted(tenant: Tenant) -> Iterator[Grant]:
    for space in tenant.spaces:
        yield from space.grants


def _segments(tenant: Tenant) -> Iterator[str]:
    """Yield the partitions and VLANs of a team, each once."""
    found = {
        (network.fabric.name, network.display)
        for space in tenant.spaces
        for network in space.networks
    }
    for fabric, segment in found:
        yield f"{fabric} {segment}"
