"""The templates, and what each is rendered for, in the order of the reference page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from trainyard.diagnostics import Pointer
from trainyard.model.cluster import Cluster
from trainyard.model.link import INFINIBAND, ROCE, Link
from trainyard.model.network import Network
from trainyard.model.platform import Site
from trainyard.model.space import Space
from trainyard.model.tenant import Tenant
from trainyard.render.delivery import Delivery
from trainyard.render.views.cluster import ClusterView
from trainyard.render.views.site import SiteView
from trainyard.render.views.space import SpaceView

Subject = TypeVar("Subject", Site, Delivery)


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


@dataclass(frozen=True, slots=True)
class Entry(Generic[Subject]):
    """A template and what it is rendered for.

    Args:
        template: below templates/, without ending; its first part is the unit.
        scopes: one rendering for each.
        feature: of a release; others don't render it. Every release does when empty.
        link: a fabric's link, or ``fabric`` for any; a cluster without one has no such kind. Every
            cluster when empty.
    """

    template: str
    scopes: Callable[[Subject], Iterable[Scope]]
    feature: str = ""
    link: str = ""

    def concerns(self, cluster: Cluster) -> bool:
        """Return whether a cluster may have such objects."""
        links = {"", *ClusterView(cluster).links}
        return self.is_in(cluster.release.features) and self.link in links

    def is_in(self, features: Collection[str]) -> bool:
        """Return whether a release with some features has such objects."""
        return self.feature in {"", *features}

    def unit(self, cluster: Cluster) -> str:
        """Return the unit, ``team`` for each of the teams'."""
        unit = self.template.partition("/")[0]
        return cluster.node_unit if unit == "nodes" else unit

    def folder(self, cluster: Cluster, scope: Scope) -> str:
        """Return the unit's folder below the cluster's."""
        unit = self.unit(cluster)
        return {"team": f"teams/{scope.team}", "samples": f"samples/{scope.team}"}.get(unit, unit)


def _cluster(site: Site) -> Iterator[Scope]:
    yield Scope({}, site.cluster.files, site.cluster.at)


def _audited(site: Site) -> Iterator[Scope]:
    if SiteView(site).audited_namespaces:
        yield from _cluster(site)


def _cleanup(site: Site) -> Iterator[Scope]:
    """Yield the clean-up of finished jobs, where the cluster has one."""
    if cleanup := site.cluster.finished_jobs:
        yield Scope({"cleanup": cleanup}, site.cluster.files, cleanup.at)


def _cleanup_secret(site: Site) -> Iterator[Scope]:
    if (cleanup := site.cluster.finished_jobs) and cleanup.pull_secret:
        yield Scope({"secret": cleanup.pull_secret}, site.cluster.files, cleanup.at)


def _pools(site: Site) -> Iterator[Scope]:
    for pool in site.cluster.pools:
        yield Scope(
            {"pool": pool}, (*site.cluster.files, *pool.hardware.files), pool.at, name=pool.name
        )


def _fabric_pools(site: Site) -> Iterator[Scope]:
    return (
        scope for scope, pool in zip(_pools(site), site.cluster.pools, strict=True) if pool.fabric
    )


def _rails(site: Site) -> Iterator[Scope]:
    for pool in site.cluster.pools:
        for rail in pool.rails:
            yield Scope({"rail": rail}, (*pool.hardware.files, *site.cluster.files), pool.at)


def _fabrics(site: Site) -> Iterator[Scope]:
    for fabric in site.cluster.fabrics:
        yield Scope({"fabric": fabric}, site.cluster.files, fabric.at)


def _cohorts(site: Site) -> Iterator[Scope]:
    for cohort in site.cluster.cohorts:
        yield Scope({"cohort": cohort}, site.cluster.files, cohort.at)


def _priorities(site: Site) -> Iterator[Scope]:
    for priority in site.cluster.priorities:
        yield Scope({"priority": priority}, site.cluster.files, priority.at)


def _launches(*, mpi: bool) -> Callable[[Site], Iterator[Scope]]:
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


def _spaces(site: Site) -> Iterator[Scope]:
    for tenant in site.tenants:
        for space in tenant.spaces:
            yield _in(tenant, space)


def _each(
    name: str, members: Callable[[Tenant], Iterable[object]]
) -> Callable[[Site], Iterator[Scope]]:
    """Return scopes for each member of each tenant, under a variable's name."""

    def scopes(site: Site) -> Iterator[Scope]:
        return (
            _of(tenant, **{name: member}) for tenant in site.tenants for member in members(tenant)
        )

    return scopes


def _within(
    name: str, members: Callable[[Space], Iterable[object]]
) -> Callable[[Site], Iterator[Scope]]:
    """Return scopes for each member of each namespace of each tenant, under a variable's name."""

    def scopes(site: Site) -> Iterator[Scope]:
        for tenant in site.tenants:
            for space in tenant.spaces:
                yield from (_in(tenant, space, **{name: member}) for member in members(space))

    return scopes


def _networks(link: Link) -> Callable[[Space], Iterable[Network]]:
    return lambda space: (network for network in space.networks if network.fabric.link is link)


def _bindings(site: Site) -> Iterator[Scope]:
    for binding in SiteView(site).bindings:
        yield Scope({"binding": binding}, site.cluster.files, site.cluster.at)


def _applications(delivery: Delivery) -> Iterator[Scope]:
    for application in delivery.applications:
        yield Scope(
            {"application": application}, delivery.site.cluster.files, delivery.site.cluster.at
        )


def _delivery(delivery: Delivery) -> Iterator[Scope]:
    yield from _cluster(delivery.site)


def _units(delivery: Delivery) -> Iterator[Scope]:
    for unit in delivery.units:
        yield Scope({"unit": unit}, delivery.site.cluster.files, delivery.site.cluster.at)


def _projects(delivery: Delivery) -> Iterator[Scope]:
    for tenant in delivery.site.tenants:
        yield _of(tenant)


CATALOG: tuple[Entry[Site], ...] = (
    Entry("platform/namespace", _cluster),
    Entry("platform/kueue", _cluster, "kueue-operator"),
    Entry("platform/topology", _fabrics),
    Entry("platform/resource-flavor", _pools),
    Entry("platform/cohort", _cohorts),
    Entry("platform/cluster-queue", _each("queue", lambda tenant: tenant.queues)),
    Entry("platform/workload-priority-class", _priorities),
    Entry("platform/cluster-training-runtime-mpi", _launches(mpi=True)),
    Entry("platform/cluster-training-runtime-torch", _launches(mpi=False)),
    Entry(
        "platform/ip-pool", _each("pool", lambda tenant: tenant.address_pools), "ip-pools", "fabric"
    ),
    Entry("platform/sriov-network", _within("network", _networks(ROCE)), link=ROCE.name),
    Entry("platform/persistent-volume", _each("claim", lambda tenant: tenant.made_volumes)),
    Entry("platform/cluster-role-team-admin", _cluster),
    Entry("platform/cluster-role-team-user", _cluster),
    Entry("platform/cluster-role-team-viewer", _cluster),
    Entry("platform/cluster-role-catalog-viewer", _cluster),
    Entry("platform/cluster-role-operator", _cluster),
    Entry("platform/cluster-role-auditor", _cluster),
    Entry("platform/cluster-role-binding", _bindings),
    Entry("platform/validating-admission-policy-closed", _cluster),
    Entry("platform/validating-admission-policy-binding-closed", _cluster),
    Entry("platform/config-map-admitted-namespaces", _cluster),
    Entry("platform/validating-admission-policy-no-orphans", _cluster),
    Entry("platform/validating-admission-policy-binding-no-orphans", _cluster),
    Entry("platform/validating-admission-policy-tenant-objects", _cluster),
    Entry("platform/validating-admission-policy-binding-tenant-objects", _cluster),
    Entry("platform/validating-admission-policy-pool-nodes", _cluster),
    Entry("platform/validating-admission-policy-binding-pool-nodes", _cluster),
    Entry("platform/validating-admission-policy-team-namespaces", _cluster),
    Entry("platform/validating-admission-policy-binding-team-namespaces", _cluster),
    Entry("platform/validating-admission-policy-trainjob-help", _cluster),
    Entry("platform/validating-admission-policy-binding-trainjob-help", _spaces),
    Entry("platform/validating-admission-policy-trainjob-limits", _cluster),
    Entry("platform/validating-admission-policy-binding-trainjob-limits", _spaces),
    Entry("platform/config-map-trainjob-limits", _spaces),
    Entry("platform/cluster-role-finished-jobs", _cleanup),
    Entry("platform/service-account-finished-jobs", _cleanup),
    Entry("platform/external-secret-pull", _cleanup_secret),
    Entry("platform/cron-job-finished-jobs", _cleanup),
    Entry("team/namespace", _spaces),
    Entry("team/local-queue", _within("local", lambda space: space.local_queues)),
    Entry("team/resource-quota", _spaces),
    Entry("team/limit-range", _spaces),
    Entry("team/service-account", _within("account", lambda space: SpaceView(space).accounts)),
    Entry("team/role-binding", _within("binding", lambda space: SpaceView(space).bindings)),
    Entry("team/network-policy-default-deny", _spaces),
    Entry("team/network-policy-dns", _spaces),
    Entry("team/network-policy-jobs", _spaces),
    Entry("team/network-policy-workspaces", _spaces, "workspaces"),
    Entry("team/network-policy-metrics", _spaces),
    Entry("team/network-policy-egress", _within("egress", lambda space: SpaceView(space).egress)),
    Entry(
        "team/network-attachment-definition",
        _within("network", _networks(INFINIBAND)),
        link=INFINIBAND.name,
    ),
    Entry("team/persistent-volume-claim", _within("claim", lambda space: space.claims)),
    Entry("team/external-secret-s3", _within("secret", lambda space: space.buckets)),
    Entry(
        "team/external-secret-pull", _within("secret", lambda space: SpaceView(space).pull_secrets)
    ),
    Entry("nodes/sriov-network-node-policy", _rails, link="fabric"),
    Entry("nodes/sriov-network-pool-config", _fabric_pools, link="fabric"),
    Entry("nodes/machine-config-pool", _pools, "machine-config"),
    Entry("nodes/machine-config-memlock", _fabric_pools, "machine-config", "fabric"),
    Entry("nodes/kubelet-config", _pools, "machine-config"),
    Entry("node-files/kubelet-configuration", _pools, "node-files"),
    Entry("operators/audit-policy", _audited, "audit-policy"),
    Entry("operators/kueue-configuration", _cluster, "kueue-configuration"),
    Entry("samples/train-job", _within("sample", lambda space: space.samples)),
)
"""Templates of objects that are rendered independently."""

DELIVERY: tuple[Entry[Delivery], ...] = (
    Entry("argocd/cluster-role-delivery", _delivery),
    Entry("argocd/cluster-role-binding-delivery", _delivery),
    Entry("argocd/app-project-argocd", _delivery),
    Entry("argocd/app-project-unit", _units),
    Entry("argocd/app-project-team", _projects),
    Entry("argocd/application", _applications),
    Entry("argocd/application-set-teams", _delivery),
)
"""Templates of the delivery, which may touch the kinds of all other objects, and no other kind."""
