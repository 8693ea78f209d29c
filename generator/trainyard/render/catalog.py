"""The templates, and what each is rendered for, in the order of the reference page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from trainyard.model.cluster import Cluster
from trainyard.model.link import INFINIBAND, ROCE
from trainyard.model.monitoring import CONSOLE, GRAFANA_OPERATOR, GRAFANA_SIDECAR
from trainyard.model.names import SYSTEM_NAMESPACE, TEAM_NETWORK_POLICIES
from trainyard.model.nvlink import DOMAIN, FEATURE
from trainyard.model.platform import Site
from trainyard.render import scopes
from trainyard.render.delivery import Delivery
from trainyard.render.scopes import Scope
from trainyard.render.stages import (
    always,
    beside_others,
    bound,
    copies_name,
    held_on_nodes,
    limited_spaces,
    of_jobs,
    of_nodes,
    of_spaces,
    open_spaces,
)
from trainyard.render.views.space import SpaceView
from trainyard.render.views.tenant import TenantView

Subject = TypeVar("Subject", Site, Delivery)


@dataclass(frozen=True, slots=True)
class Entry(Generic[Subject]):
    """A template and what it is rendered for.

    Args:
        template: below templates/, without ending; its first part is the unit.
        scopes: one rendering for each.
        feature: of a release; others don't render it. Every release does when empty.
        link: a fabric's link, ``fabric`` for any with rails, ``rdma`` for any, or ``nvlink``; a
            cluster without one has no such kind. Every cluster when empty.
    """

    template: str
    scopes: Callable[[Subject], Iterable[Scope]]
    feature: str = ""
    link: str = ""

    def concerns(self, cluster: Cluster) -> bool:
        """Return whether a cluster may have such objects."""
        return self.is_in(cluster.features) and self.link in {"", *cluster.links}

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


def _policy(
    name: str,
    policies: Callable[[Site], Iterable[Scope]],
    bindings: Callable[[Site], Iterable[Scope]] | None = None,
    feature: str = "",
) -> tuple[Entry[Site], Entry[Site]]:
    """Return an admission policy and its bindings: one, or one for each of some scopes."""
    kind = "platform/validating-admission-policy"
    return (
        Entry(f"{kind}-{name}", policies, feature),
        Entry(f"{kind}-binding-{name}", bindings or policies, feature),
    )


CATALOG: tuple[Entry[Site], ...] = (
    Entry("platform/namespace", scopes.cluster),
    Entry("platform/network-policy-system", scopes.cluster),
    Entry("platform/kueue", scopes.cluster, "kueue-operator"),
    Entry("platform/topology", scopes.topologies),
    Entry("platform/resource-flavor", scopes.pools),
    Entry("platform/cohort", scopes.cohorts),
    Entry("platform/cluster-queue", scopes.queues),
    Entry("platform/workload-priority-class", scopes.priorities),
    Entry("platform/cluster-training-runtime-mpi", scopes.launches(mpi=True)),
    Entry("platform/cluster-training-runtime-torch", scopes.launches(mpi=False)),
    Entry(
        "platform/ip-pool",
        scopes.each("pool", lambda tenant: tenant.address_pools),
        "ip-pools",
        "fabric",
    ),
    Entry(
        "platform/sriov-network", scopes.within("network", scopes.networks(ROCE)), link=ROCE.name
    ),
    Entry("platform/persistent-volume", scopes.each("claim", lambda tenant: tenant.made_volumes)),
    Entry("platform/cluster-role-team-admin", scopes.cluster),
    Entry("platform/cluster-role-team-user", scopes.cluster),
    Entry("platform/cluster-role-team-viewer", scopes.cluster),
    Entry("platform/cluster-role-team-debugger", scopes.debugged),
    Entry("platform/cluster-role-team-runtimes", scopes.own_runtimes),
    Entry("platform/cluster-role-catalog-viewer", scopes.cluster),
    Entry("platform/cluster-role-operator", scopes.cluster),
    Entry("platform/cluster-role-auditor", scopes.cluster),
    Entry("platform/cluster-role-binding", scopes.bindings),
    Entry(
        "platform/cluster-role-binding-catalog-viewer",
        scopes.each("binding", lambda tenant: TenantView(tenant).bindings),
    ),
    *_policy(
        "closed",
        scopes.cluster,
        bound("trainyard-closed-until-admitted", scopes.cluster, of_nodes),
    ),
    Entry("platform/config-map-admitted-namespaces", scopes.cluster),
    *_policy("no-orphans", scopes.cluster, bound("trainyard-no-orphans", scopes.cluster, of_nodes)),
    *_policy("jobs", scopes.cluster, bound("trainyard-jobs", scopes.cluster, of_nodes)),
    *_policy("job-status", scopes.cluster, bound("trainyard-job-status", scopes.cluster, always)),
    *_policy("tenant-objects", scopes.cluster, of_jobs("trainyard-tenant-objects")),
    *_policy("network-policies", scopes.cluster, bound(TEAM_NETWORK_POLICIES, scopes.cluster)),
    *_policy("object-count", scopes.cluster, bound("trainyard-object-count", scopes.cluster)),
    *_policy("parameters", scopes.cluster),
    *_policy("sources", scopes.cluster),
    *_policy("pool-nodes", scopes.cluster, beside_others("trainyard-pool-nodes", held_on_nodes)),
    *_policy("external-addresses", scopes.cluster, feature="external-ips"),
    *_policy(
        "team-namespaces",
        scopes.cluster,
        beside_others("trainyard-team-namespaces", own=(SYSTEM_NAMESPACE,)),
    ),
    *_policy("secret-stores", scopes.with_secret_stores),
    *_policy("adopted-volumes", scopes.with_adopted_volumes),
    *_policy("shells", scopes.debugged, bound("trainyard-shells", scopes.debugged)),
    *_policy("own-runtimes", scopes.own_runtimes, scopes.own_runtime_spaces),
    *_policy("copies", scopes.own_runtimes, bound(copies_name, scopes.copied_launches, always)),
    *_policy(
        "trainjob-form", scopes.cluster, bound("trainyard-trainjob-form", scopes.cluster, of_nodes)
    ),
    *_policy("trainjob-help", scopes.cluster, scopes.spaces),
    *_policy(
        "trainjob-limits",
        scopes.cluster,
        of_spaces(lambda space: space.limits_name, scopes.spaces),
    ),
    Entry("platform/config-map-trainjob-limits", scopes.spaces),
    Entry("platform/cluster-role-mpijob-user", scopes.with_mpi_jobs),
    Entry("platform/cluster-role-mpijob-viewer", scopes.with_mpi_jobs),
    *_policy("mpijob-end", scopes.with_mpi_jobs, scopes.spaces_with_mpi_jobs),
    *_policy(
        "mpijob-limits",
        scopes.with_mpi_jobs,
        of_spaces(lambda space: space.mpi_limits_name, scopes.spaces_with_mpi_jobs),
    ),
    Entry("platform/cluster-role-finished-jobs", scopes.cleanup),
    Entry("platform/service-account-finished-jobs", scopes.cleanup),
    Entry("platform/external-secret-pull", scopes.cleanup_secret),
    Entry("platform/cron-job-finished-jobs", scopes.cleanup),
    Entry("platform/service-monitor", scopes.scraped(pods=False)),
    Entry("platform/pod-monitor", scopes.scraped(pods=True)),
    Entry("platform/prometheus-rule", scopes.rulesets),
    Entry("platform/config-map-dashboard", scopes.dashboards(GRAFANA_SIDECAR)),
    Entry("platform/grafana-dashboard", scopes.dashboards(GRAFANA_OPERATOR)),
    Entry("team/namespace", scopes.spaces),
    Entry("team/local-queue", scopes.within("local", lambda space: space.local_queues)),
    Entry("team/resource-quota", limited_spaces),
    Entry("team/limit-range", limited_spaces),
    Entry(
        "team/service-account", scopes.within("account", lambda space: SpaceView(space).accounts)
    ),
    Entry("team/role-binding", scopes.within("binding", lambda space: SpaceView(space).bindings)),
    Entry("team/network-policy-default-deny", scopes.spaces),
    Entry("team/network-policy-open", open_spaces),
    Entry("team/network-policy-dns", scopes.spaces),
    Entry("team/network-policy-jobs", scopes.spaces),
    Entry("team/network-policy-mpijobs", scopes.spaces_with_mpi_jobs),
    Entry("team/network-policy-workspaces", scopes.spaces, "workspaces"),
    Entry("team/network-policy-metrics", scopes.spaces_with_metrics),
    Entry("team/pod-monitor", scopes.spaces_with_metrics),
    Entry(
        "team/network-policy-egress", scopes.within("egress", lambda space: SpaceView(space).egress)
    ),
    Entry(
        "team/network-attachment-definition",
        scopes.within("network", scopes.networks(INFINIBAND)),
        link=INFINIBAND.name,
    ),
    Entry(
        "team/compute-domain",
        scopes.within("domain", lambda space: SpaceView(space).domains),
        FEATURE,
        DOMAIN,
    ),
    Entry("team/persistent-volume-claim", scopes.within("claim", lambda space: space.claims)),
    Entry("team/external-secret-s3", scopes.within("secret", lambda space: space.buckets)),
    Entry(
        "team/external-secret-pull",
        scopes.within("secret", lambda space: SpaceView(space).pull_secrets),
    ),
    Entry("nodes/sriov-network-node-policy", scopes.rails, link="fabric"),
    Entry("nodes/sriov-network-pool-config", scopes.rail_pools, link="fabric"),
    Entry("nodes/machine-config-pool", scopes.pools, "machine-config"),
    Entry("nodes/machine-config-memlock", scopes.fabric_pools, "machine-config", "rdma"),
    Entry("nodes/kubelet-config", scopes.pools, "machine-config"),
    Entry("node-files/kubelet-configuration", scopes.pools, "node-files"),
    Entry("operators/audit-policy", scopes.cluster, "audit-policy"),
    Entry("operators/cluster-log-forwarder", scopes.logged, "log-forwarder"),
    Entry(
        "operators/config-map-console-dashboard",
        scopes.dashboards(CONSOLE),
        "user-workload-monitoring",
    ),
    Entry("operators/kueue-configuration", scopes.cluster, "kueue-configuration"),
    Entry(
        "samples/train-job", scopes.within("sample", lambda space: (*space.samples, *space.tests))
    ),
)
"""Templates of objects that are rendered independently."""

DELIVERY: tuple[Entry[Delivery], ...] = (
    Entry("argocd/cluster-role-delivery", scopes.delivery),
    Entry("argocd/cluster-role-binding-delivery", scopes.delivery),
    Entry("argocd/app-project-argocd", scopes.delivery),
    Entry("argocd/app-project-unit", scopes.units),
    Entry("argocd/app-project-team", scopes.projects),
    Entry("argocd/application", scopes.applications),
    Entry("argocd/application-set-teams", scopes.delivery),
)
"""Templates of the delivery, which may touch the kinds of all other objects, and no other kind."""
