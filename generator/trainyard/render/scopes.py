"""What templates are rendered for: their scopes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from trainyard.diagnostics import Pointer
from trainyard.model.held import held_queues
from trainyard.model.link import Link
from trainyard.model.network import Network
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.model.space import Space
from trainyard.model.tenant import Tenant
from trainyard.render.alerts.rulesets import rule_sets
from trainyard.render.dashboards.boards import boards
from trainyard.render.delivery import Delivery
from trainyard.render.views.queue import stop_policy
from trainyard.render.views.site import SiteView


@dataclass(frozen=True, slots=True)
class Scope:
    """The variables of one rendering of a template, and their source.

    Args:
        team: whose unit it belongs to; empty for the cluster's.
        name: of a team's further namespace, or a pool; distinguishes their files.
    """

    variables: dict[str, object]
    files: tuple[str, ...]
    at: Pointer
    team: str = ""
    name: str = ""


def cluster(site: Site) -> Iterator[Scope]:
    """Yield the cluster."""
    yield Scope({}, site.cluster.files, site.cluster.at)


def debugged(site: Site) -> Iterator[Scope]:
    """Yield the cluster, where somebody may run commands in the pods of jobs."""
    if SiteView(site).has_debuggers:
        yield from cluster(site)


def with_secret_stores(site: Site) -> Iterator[Scope]:
    """Yield the cluster, where it names ClusterSecretStores."""
    if site.cluster.secret_stores:
        yield from cluster(site)


def with_adopted_volumes(site: Site) -> Iterator[Scope]:
    """Yield the cluster, where teams may adopt volumes."""
    if site.cluster.guards_adopted:
        yield from cluster(site)


def own_runtimes(site: Site) -> Iterator[Scope]:
    """Yield the cluster, where the admins of some team may create TrainingRuntimes."""
    if any(tenant.team.own_runtimes for tenant in site.tenants):
        yield from cluster(site)


def own_runtime_spaces(site: Site) -> Iterator[Scope]:
    """Yield each namespace whose admins may create TrainingRuntimes."""
    yield from spaces_that(site, lambda space: bool(space.team.own_runtimes))


def copied_launches(site: Site) -> Iterator[Scope]:
    """Yield each runtime that some team's admins may copy."""
    copied: set[str] = set()
    for tenant in site.tenants:
        if tenant.team.own_runtimes:
            copied.update(launch.name for launch in tenant.launches)
    for launch in site.launches:
        if launch.name in copied:
            yield Scope({"launch": launch}, launch.files, launch.runtime.at)


def cleanup(site: Site) -> Iterator[Scope]:
    """Yield the clean-up of finished jobs, where the cluster has one."""
    if cleanup := site.cluster.finished_jobs:
        yield Scope({"cleanup": cleanup}, site.cluster.files, cleanup.at)


def cleanup_secret(site: Site) -> Iterator[Scope]:
    """Yield the pull secret of the clean-up, where it has one."""
    if (cleanup := site.cluster.finished_jobs) and cleanup.pull_secret:
        yield Scope({"secret": cleanup.pull_secret}, site.cluster.files, cleanup.at)


def scraped(*, pods: bool) -> Callable[[Site], Iterator[Scope]]:
    """Return scopes for the controllers that we have scraped: at their pods, or at a Service."""

    def scopes(site: Site) -> Iterator[Scope]:
        if monitoring := site.cluster.monitoring:
            for source in site.cluster.sources:
                if source.scrape and source.scrape.pods == pods:
                    yield Scope({"scraped": source}, site.cluster.files, monitoring.at)

    return scopes


def rulesets(site: Site) -> Iterator[Scope]:
    """Yield each family of alerts, where the cluster has a Prometheus."""
    if monitoring := site.cluster.monitoring:
        for ruleset in rule_sets(site):
            yield Scope({"ruleset": ruleset}, site.cluster.files, monitoring.at)


def dashboards(viewer: str) -> Callable[[Site], Iterator[Scope]]:
    """Return scopes for the dashboards of clusters where one program shows them."""

    def scopes(site: Site) -> Iterator[Scope]:
        monitoring = site.cluster.monitoring
        if monitoring and monitoring.dashboards == viewer:
            for board in boards(site.cluster):
                yield Scope({"board": board}, site.cluster.files, monitoring.at / "dashboards")

    return scopes


def logged(site: Site) -> Iterator[Scope]:
    """Yield how lines of pods are kept, where the cluster states it."""
    if (monitoring := site.cluster.monitoring) and (logs := monitoring.logs):
        yield Scope({"logs": logs}, site.cluster.files, logs.at)


def pools(site: Site) -> Iterator[Scope]:
    """Yield each pool."""
    return (_pool(pool, site) for pool in site.cluster.pools)


def _pool(pool: Pool, site: Site) -> Scope:
    files = (*site.cluster.files, *pool.hardware.files)
    return Scope({"pool": pool}, files, pool.at, name=pool.name)


def rail_pools(site: Site) -> Iterator[Scope]:
    """Yield each pool whose rails are plugged into a fabric."""
    return (_pool(pool, site) for pool in site.cluster.pools if pool.rail_fabric)


def fabric_pools(site: Site) -> Iterator[Scope]:
    """Yield each pool on a fabric of any kind."""
    return (_pool(pool, site) for pool in site.cluster.pools if pool.fabric)


def rails(site: Site) -> Iterator[Scope]:
    """Yield each rail of each pool."""
    for pool in site.cluster.pools:
        for rail in pool.rails:
            yield Scope({"rail": rail}, (*pool.hardware.files, *site.cluster.files), pool.at)


def topologies(site: Site) -> Iterator[Scope]:
    """Yield each topology."""
    for topology in site.cluster.topologies:
        yield Scope({"topology": topology}, site.cluster.files, topology.at)


def cohorts(site: Site) -> Iterator[Scope]:
    """Yield each cohort."""
    for cohort in site.cluster.cohorts:
        yield Scope({"cohort": cohort}, site.cluster.files, cohort.at)


def priorities(site: Site) -> Iterator[Scope]:
    """Yield each priority class."""
    for priority in site.cluster.priorities:
        yield Scope({"priority": priority}, site.cluster.files, priority.at)


def launches(*, mpi: bool) -> Callable[[Site], Iterator[Scope]]:
    """Return scopes for the runtimes that Trainer's MPI plugin serves, or for the others."""

    def scopes(site: Site) -> Iterator[Scope]:
        for launch in site.launches:
            if launch.runtime.launcher.mpi == mpi:
                yield Scope({"launch": launch}, launch.files, launch.runtime.at)

    return scopes


def _of(tenant: Tenant, **variables: object) -> Scope:
    return Scope({"tenant": tenant, **variables}, tenant.files, tenant.team.at, tenant.name)


def _in(tenant: Tenant, space: Space, **variables: object) -> Scope:
    scope = _of(tenant, space=space, **variables)
    return replace(scope, name=space.profile.name)


def spaces_that(site: Site, wanted: Callable[[Space], bool]) -> Iterator[Scope]:
    """Yield each namespace of each team for which a condition holds."""
    for tenant in site.tenants:
        for space in filter(wanted, tenant.spaces):
            yield _in(tenant, space)


def queues(site: Site) -> Iterator[Scope]:
    """Yield each queue of each team, with what Kueue does with its jobs."""
    held = held_queues(site)
    for tenant in site.tenants:
        for queue in tenant.queues:
            yield _of(tenant, queue=queue, stop_policy=stop_policy(queue, held))


def spaces(site: Site) -> Iterator[Scope]:
    """Yield each namespace of each team."""
    for tenant in site.tenants:
        for space in tenant.spaces:
            yield _in(tenant, space)


def spaces_with_metrics(site: Site) -> Iterator[Scope]:
    """Yield each namespace whose jobs have metrics of their own, where a Prometheus is."""
    if site.cluster.monitoring:
        yield from spaces_that(site, lambda space: bool(space.team.metrics))


def with_mpi_jobs(site: Site) -> Iterator[Scope]:
    """Yield the cluster, where some team may create MPIJobs."""
    if site.mpi_spaces:
        yield from cluster(site)


def spaces_with_mpi_jobs(site: Site) -> Iterator[Scope]:
    """Yield each namespace whose users may create MPIJobs."""
    yield from spaces_that(site, lambda space: bool(space.mpi_jobs))


def each(
    name: str, members: Callable[[Tenant], Iterable[object]]
) -> Callable[[Site], Iterator[Scope]]:
    """Return scopes for each member of each tenant, under a variable's name."""

    def scopes(site: Site) -> Iterator[Scope]:
        for tenant in site.tenants:
            for member in members(tenant):
                yield _of(tenant, **{name: member})

    return scopes


def within(
    name: str, members: Callable[[Space], Iterable[object]]
) -> Callable[[Site], Iterator[Scope]]:
    """Return scopes for each member of each namespace of each tenant, under a variable's name."""

    def scopes(site: Site) -> Iterator[Scope]:
        for tenant in site.tenants:
            for space in tenant.spaces:
                for member in members(space):
                    yield _in(tenant, space, **{name: member})

    return scopes


def networks(link: Link) -> Callable[[Space], Iterable[Network]]:
    """Return a function that returns a namespace's networks over one link."""
    return lambda space: (network for network in space.networks if network.fabric.link is link)


def bindings(site: Site) -> Iterator[Scope]:
    """Yield each binding in the whole cluster."""
    for binding in SiteView(site).bindings:
        yield Scope({"binding": binding}, site.cluster.files, site.cluster.at)


def applications(delivery: Delivery) -> Iterator[Scope]:
    """Yield each Application."""
    for application in delivery.applications:
        yield Scope(
            {"application": application}, delivery.site.cluster.files, delivery.site.cluster.at
        )


def delivery(delivery: Delivery) -> Iterator[Scope]:
    """Yield the cluster, for what Argo CD has once."""
    yield from cluster(delivery.site)


def units(delivery: Delivery) -> Iterator[Scope]:
    """Yield each sync unit."""
    for unit in delivery.units:
        yield Scope({"unit": unit}, delivery.site.cluster.files, delivery.site.cluster.at)


def projects(delivery: Delivery) -> Iterator[Scope]:
    """Yield each team on the cluster."""
    for tenant in delivery.site.tenants:
        yield _of(tenant)
