"""The section with a table of all teams."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from operator import attrgetter

from htpy import Element, Node, code, span

from trainyard.model.queue import Flavor
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
    every = chain.from_iterable(cluster.site.tenants for cluster in content.clusters)
    tenants = sorted(every, key=attrgetter("name", "cluster.name"))
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
    states = sorted({queue.state.word for queue in tenant.queues if not queue.state.is_open})
    return (
        [tenant.name, [[" ", badge("warned", state)] for state in states]],
        tenant.cluster.name,
        map(_quota, tenant.flavors),
        sum(int(flavor.quota.nodes * flavor.pool.hardware.gpus) for flavor in tenant.flavors),
        _largest_job(tenant),
        ", ".join(sorted({grant.launch.runtime.name for grant in _granted(tenant)})),
        ", ".join(sorted(_segments(tenant))),
        [[code[space.namespace], " "] for space in tenant.spaces],
        tenant.team.contact,
    )


def _quota(flavor: Flavor) -> Element:
    """Return a pool with what the team owns of it."""
    quota = flavor.quota
    until = f" until {quota.term.until}" if quota.term else ""
    return span(".whole")[f"{quota.pool}: {quota.display(quota.nodes)}{until} "]


def _largest_job(tenant: Tenant) -> int:
    if tenant.team.state == "draining":
        return 0
    return max((grant.nodes for grant in _granted(tenant)), default=0)


def _granted(tenant: Tenant) -> Iterator[Grant]:
    for space in tenant.spaces:
        yield from space.grants


def _segments(tenant: Tenant) -> set[str]:
    """Return the partitions and VLANs of a team."""
    segments = set()
    for space in tenant.spaces:
        for network in space.networks:
            segments.add(f"{network.fabric.name} {network.display}")
    return segments
