"""A team's effective values, each with the place that it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from generator.diagnostics import Pointer
from generator.model.platform import Platform
from generator.model.quantity import format_amount
from generator.model.team import Team
from generator.model.tenant import Tenant


@dataclass(frozen=True, slots=True)
class Value:
    """One effective value.

    Args:
        at: where a profile says it, if one does; None when it follows from others.
    """

    name: str
    value: str
    at: Pointer | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """The team itself, or the team on one cluster."""

    title: str
    values: tuple[Value, ...]


def effective(platform: Platform, name: str) -> tuple[Section, ...]:
    """Return what holds for a team; nothing but its own section when it is retired."""
    team = next(team for team in platform.teams if team.name == name)
    tenants = [tenant for site in platform.sites for tenant in site.tenants if tenant.name == name]
    on_clusters = (Section(f"on cluster {tenant.cluster.name}", tuple(_tenant(tenant))) for tenant in tenants)
    return (Section(f"team {name}", tuple(_team(team))), *on_clusters)


def _team(team: Team) -> Iterator[Value]:
    yield Value("state", team.state, team.at / "state")
    yield Value("contact", team.contact, team.at / "contact")
    yield Value("cohort", team.cohort or "none", team.at / "cohort")
    yield Value("largest job", f"{team.largest_job} nodes", team.at / "largestJob" / "nodes")
    for role, groups in team.groups.items():
        yield Value(f"groups with role {role}", ", ".join(groups), team.at / "groups" / role)
    for account in team.accounts:
        owner = f"made by {account.owner}" if account.owner else "made by Trainyard"
        yield Value(f"service account {account.name}", f"role {account.role}, {owner}", account.at)


def _tenant(tenant: Tenant) -> Iterator[Value]:
    yield Value("namespace", tenant.namespace)
    yield from _queues(tenant)
    yield from _launches(tenant)
    yield Value("priorities", ", ".join(tenant.priorities) or "none", tenant.team.at / "priorities")
    for network in tenant.networks:
        told = f"partition {network.partition}, {network.addresses}"
        yield Value(f"network {network.name}", told, network.allocation.at)
    yield from _storage(tenant)
    for egress in tenant.egress:
        targets = ", ".join((*egress.cidrs, *egress.namespaces))
        ports = ", ".join(map(str, egress.ports))
        yield Value(f"egress {egress.name}", f"{egress.source} to {targets}, TCP {ports}", egress.at)


def _queues(tenant: Tenant) -> Iterator[Value]:
    for queue in tenant.queues:
        yield Value(f"queue {queue.node_class}", f"leads to ClusterQueue {queue.name}")
        for flavor in queue.flavors:
            quota, pool = flavor.quota, flavor.pool.name
            yield Value(f"{pool}: own", f"{quota.nodes} nodes", quota.at / "nodes")
            yield Value(f"{pool}: borrows at most", f"{quota.borrow} nodes", quota.at / "borrow")
            yield Value(f"{pool}: lends at most", f"{quota.lend} nodes", quota.at / "lend")
            for resource in flavor.resources:
                yield Value(f"{pool}: own {resource.name}", resource.nominal, flavor.pool.hardware.at)


def _launches(tenant: Tenant) -> Iterator[Value]:
    for launch in tenant.launches:
        nodes = min(tenant.team.largest_job, launch.runtime.max_nodes)
        gpus = f", {nodes * launch.hardware.gpus} GPUs" if launch.hardware.gpus else ""
        yield Value(f"runtime {launch.name}", f"jobs up to {nodes} nodes{gpus}", tenant.team.at / "runtimes")


def _storage(tenant: Tenant) -> Iterator[Value]:
    for claim in tenant.claims:
        size = format_amount("storage", claim.request.size)
        yield Value(f"storage {claim.name}", f"{size} at {claim.mount_path}", claim.request.at)
    for bucket in tenant.buckets:
        told = f"bucket {bucket.bucket} at {bucket.mount_path}"
        yield Value(f"storage {bucket.name}", told, tenant.team.at / "storage" / bucket.name)
