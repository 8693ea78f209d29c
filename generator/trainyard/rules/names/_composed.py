"""Names of objects, composed from the names of profiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.diagnostics import Pointer
from trainyard.model import names
from trainyard.model.platform import Platform, Site
from trainyard.model.space import Space
from trainyard.model.tenant import Tenant


@dataclass(frozen=True, slots=True)
class Name:
    """The name of an object.

    Args:
        kind, scope: the name must be unique within both.
        parts: names that it is composed of; the same parts mean the same object.
        budget: maximum number of characters.
    """

    kind: str
    scope: str
    name: str
    parts: tuple[str, ...]
    at: Pointer
    budget: int = names.LABEL_BUDGET


def composed(platform: Platform) -> Iterator[Name]:
    """Yield the name of every object whose name is composed, on all clusters."""
    for site in platform.sites:
        for launch in site.launches:
            fabric = launch.fabric.name if launch.fabric else ""
            parts = (
                launch.runtime.name,
                launch.hardware.name,
                str(launch.part),
                launch.owner,
                fabric,
            )
            yield Name("ClusterTrainingRuntime", site.name, launch.name, parts, launch.runtime.at)
        for part in ("argocd", "nodes", "platform", "teams"):
            yield Name("application", "", site.part(part), (site.name, part), site.cluster.at)
        for tenant in site.tenants:
            yield from of_tenant(site, tenant)


def of_tenant(site: Site, tenant: Tenant) -> Iterator[Name]:
    """Yield the composed names of a team on one cluster."""
    team = tenant.team.at
    yield Name("application", "", tenant.application, (site.name, "team", tenant.name), team)
    for queue in tenant.queues:
        yield Name("ClusterQueue", site.name, queue.name, (tenant.name, queue.node_class), team)
    for pool in tenant.address_pools:
        parts = (tenant.name, pool.fabric.name, str(pool.rail))
        yield Name("address pool", site.name, pool.name, parts, team)
    for space in tenant.spaces:
        yield from of_space(site, space)


def of_space(site: Site, space: Space) -> Iterator[Name]:
    """Yield the composed names in one namespace of a team."""
    owner = (space.team.name, space.profile.name)
    at = space.profile.at
    yield Name("Namespace", "", space.namespace, owner, space.profile.namespace_at)
    yield Name("ConfigMap", "", space.limits_name, owner, space.profile.namespace_at)
    for claim in space.made_volumes:
        parts = (*owner, claim.name)
        place = claim.request.at.key()
        yield Name("PersistentVolume", site.name, claim.volume, parts, place)
    for secret in space.secrets:
        place = (at / "storage" / secret.name).key()
        scope = f"{site.name}/{space.namespace}"
        yield Name("Secret", scope, secret.name, (secret.kind,), place)
    for network in space.networks:
        if network.fabric.link.operator_networks:
            rail = (*owner, network.fabric.name, str(network.addresses.rail))
            yield Name("SriovNetwork", site.name, network.name, rail, at)
    for sample in (*space.samples, *space.tests):
        parts = (*owner, sample.test or sample.launch.name)
        budget = sample.launch.longest_job_name
        yield Name("sample TrainJob", site.name, sample.name, parts, at, budget)
