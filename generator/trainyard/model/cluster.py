"""A cluster: pools of nodes, fabrics, cohorts, priorities, storage, egress rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv4Network

from trainyard.diagnostics import Pointer
from trainyard.model import names
from trainyard.model.accelerator import MAKERS, NVIDIA, Maker
from trainyard.model.adoption import Adoption
from trainyard.model.cleanup import FinishedJobs
from trainyard.model.dns import Dns
from trainyard.model.fabric import DeviceFabric, Fabric, RailFabric
from trainyard.model.link import ROCE
from trainyard.model.monitoring import (
    API_SERVER,
    EXTERNAL_SECRETS,
    JOB_STATES,
    KUBELET,
    METRICS,
    OPENSHIFT,
    SRIOV_METRICS,
    WAITING,
    MetricSource,
    Monitoring,
)
from trainyard.model.named import by_name
from trainyard.model.network import Egress
from trainyard.model.nvlink import DOMAIN as NVLINK
from trainyard.model.pool import Pool
from trainyard.model.priority import Priority
from trainyard.model.release import Release
from trainyard.model.settings import Settings
from trainyard.model.storage import PullSecret, Storage
from trainyard.model.topology import Topology
from trainyard.model.unavailable import MACHINE_CONFIGS, NEEDED_BY

OWN_SERVER = "https://kubernetes.default.svc"
"""Argo CD's URL for the cluster that it runs on."""


@dataclass(frozen=True, slots=True)
class Cohort:
    """Teams that lend to each other; a child borrows from its parent's side too."""

    name: str
    at: Pointer
    parent: str
    weight: int


@dataclass(frozen=True, slots=True)
class Cluster:
    """One cluster, complete.

    Args:
        priorities: lowest value first.
        networks: the cluster's own address ranges by name (pods, services, machines).
        operators, auditors: groups with the platform-wide roles.
        system_namespaces: whose pods may use any node, beside those of the release.
        member_kinds: that accounts of teams' namespaces may write, beside the known ones, as
            ``plural.group``.
        frameworks: job kinds that Kueue queues.
        fips: whether the nodes run in FIPS mode.
        encrypts_pods: whether the pod network encrypts between nodes.
        finished_jobs: what deletes finished TrainJobs; None where they stay.
        monitoring: the Prometheus that gets scrapes and alerts; None where nobody looks.
        sharing: ``fair`` (by weight) or ``classical`` (who comes first) for borrowed capacity.
        node_sync: who starts a sync of the nodes' objects: ``manual``, ``automatic``, or
            ``with-platform``.
        unavailable: what nobody can set up here, e.g. ``api-server-flags``; sorted.
        sets_rdma_mode: whether the SR-IOV operator sets the exclusive mode; else the nodes' owner.
        external: ``Kind/name`` -> owner of what the tree needs and does not define, the release's
            included.
        adoption: what is spared of the workloads that were there before the tree.
        named_namespaces: namespaces of its teams whose names do not say so, sorted.
    """

    name: str
    at: Pointer
    settings: Settings
    release: Release
    server: str
    argocd_namespace: str
    argocd_account: str
    versions: Mapping[str, str]
    pools: tuple[Pool, ...]
    fabrics: tuple[Fabric, ...]
    topologies: tuple[Topology, ...]
    cohorts: tuple[Cohort, ...]
    priorities: tuple[Priority, ...]
    storage: tuple[Storage, ...]
    pull_secrets: tuple[PullSecret, ...]
    dns: Dns
    egress: tuple[Egress, ...]
    networks: Mapping[str, IPv4Network]
    operators: tuple[str, ...]
    auditors: tuple[str, ...]
    system_namespaces: tuple[str, ...]
    member_kinds: tuple[str, ...]
    frameworks: tuple[str, ...]
    sharing: str
    node_sync: str
    sets_rdma_mode: bool
    unavailable: tuple[str, ...]
    fips: bool
    encrypts_pods: bool
    external: Mapping[str, str]
    finished_jobs: FinishedJobs | None
    monitoring: Monitoring | None
    adoption: Adoption
    named_namespaces: tuple[str, ...] = ()

    def lineage(self, cohort: str) -> tuple[str, ...]:
        """Return a cohort and what it descends from, the root last; a cycle is gone around once."""
        parents = {cohort.name: cohort.parent for cohort in self.cohorts}
        line = [cohort]
        while (parent := parents.get(line[-1], "")) and parent not in line:
            line.append(parent)
        return tuple(line)

    def pools_on(self, fabric: Fabric) -> tuple[Pool, ...]:
        """Return the pools whose nodes are on a fabric."""
        return tuple(pool for pool in self.pools if pool.fabric == fabric)

    @property
    def rail_fabrics(self) -> tuple[RailFabric, ...]:
        """The fabrics whose virtual functions and networks the tree has."""
        return tuple(fabric for fabric in self.fabrics if isinstance(fabric, RailFabric))

    @property
    def device_fabrics(self) -> tuple[DeviceFabric, ...]:
        """The fabrics whose devices others advertise."""
        return tuple(fabric for fabric in self.fabrics if isinstance(fabric, DeviceFabric))

    def rails_of(self, fabric: Fabric) -> int:
        """Return how many rails a fabric has: those of the nodes with the most."""
        return max((len(pool.rails) for pool in self.pools_on(fabric)), default=0)

    @property
    def features(self) -> frozenset[str]:
        """Features of the release, without those that need what nobody can set up here."""
        held = self.release.features
        return frozenset(each for each in held if NEEDED_BY.get(each) not in self.unavailable)

    @property
    def node_unit(self) -> str:
        """Sync unit of the objects that set up nodes."""
        return "platform" if self.node_sync == "with-platform" else "nodes"

    @property
    def has_node_unit(self) -> bool:
        """Return whether there is a sync unit of the nodes alone."""
        on_fabrics = any(pool.rail_fabric for pool in self.pools)
        has_objects = on_fabrics or "machine-config" in self.features
        return has_objects and self.node_unit == "nodes"

    @property
    def makers(self) -> tuple[Maker, ...]:
        """Who makes the GPUs of its nodes."""
        used = {pool.hardware.maker for pool in self.pools}
        return tuple(maker for maker in MAKERS if maker in used)

    @property
    def has_secrets(self) -> bool:
        """Return whether some Secret comes from a secret store."""
        return bool(self.secret_stores)

    @property
    def secret_stores(self) -> list[str]:
        """ClusterSecretStores that the profile names, sorted."""
        stores = {secret.secret_store for secret in self.pull_secrets}
        stores.update(storage.secret_store for storage in self.storage)
        return sorted(stores - {""})

    @property
    def guards_adopted(self) -> bool:
        """Return whether teams may adopt volumes of the class that only the delivery claims."""
        return any(storage.storage_class == names.ADOPTED_CLASS for storage in self.storage)

    def _is_scraped(self, source: str) -> bool:
        """Return whether the cluster declares who has a source scraped."""
        return f"{METRICS}/{source}" in self.external

    @property
    def viewer(self) -> str:
        """What shows dashboards; empty where nothing does."""
        return self.monitoring.dashboards if self.monitoring else ""

    @property
    def waiting_limits(self) -> dict[str, int]:
        """Return the seconds that a job of each priority may wait until an alert fires."""
        stated = self.monitoring.waiting if self.monitoring else {}
        return {priority.name: stated.get(priority.name, WAITING) for priority in self.priorities}

    @property
    def has_remote_argocd(self) -> bool:
        """Return whether Argo CD runs on another cluster."""
        return self.server != OWN_SERVER

    @property
    def sources(self) -> tuple[MetricSource, ...]:
        """What alerts and dashboards read, by name; without an Argo CD on another cluster."""
        sources = dict(self.release.metrics)
        if MACHINE_CONFIGS in self.unavailable:
            sources.pop("machine-config", None)
        if self.has_remote_argocd:
            sources.pop("argocd", None)
        elif "argocd" in sources:
            sources["argocd"] = replace(sources["argocd"], namespace=self.argocd_namespace)
        sources |= {name: MetricSource(name) for name, is_there in self._others.items() if is_there}
        return tuple(dict(sorted(sources.items())).values())

    @property
    def _others(self) -> dict[str, bool]:
        """Sources that no release describes: whether they are there by themselves, or declared."""
        return {
            API_SERVER: self._is_scraped(API_SERVER),
            NVIDIA.exporter: NVIDIA in self.makers,
            EXTERNAL_SECRETS: self.has_secrets and self._is_scraped(EXTERNAL_SECRETS),
            JOB_STATES: self._is_scraped(JOB_STATES),
            "kube-state-metrics": True,
            KUBELET: self.viewer != "" or self._is_scraped(KUBELET),
            "node-exporter": bool(self.rail_fabrics),
            # It reads Ethernet cards only (collectors/sriovdev.go@v1.2.0: PCI class 0x020000).
            SRIOV_METRICS: ROCE.name in self.links and self._is_scraped(SRIOV_METRICS),
        }

    @property
    def links(self) -> frozenset[str]:
        """The link of each fabric with rails, ``fabric`` if there is one, ``rdma`` for any kind.

        And ``nvlink``, where it connects the nodes of some pool for jobs.
        """
        links = {fabric.link.name for fabric in self.rail_fabrics}
        links |= {"fabric"} if links else set()
        links |= {"rdma"} if self.fabrics else set()
        return frozenset(links | {NVLINK for pool in self.pools if pool.has_nvlink})

    def has_metrics(self, sources: Collection[str], link: str = "") -> bool:
        """Return whether it has some sources of metrics, and a fabric if one is asked for."""
        return link in {"", *self.links} and by_name(self.sources).keys() >= {*sources}

    @property
    def files(self) -> tuple[str, ...]:
        """The profile file."""
        return (self.at.file,)

    @property
    def system_namespace(self) -> str:
        """Namespace of the admission policies' parameters, and of the clean-up of finished jobs."""
        return names.SYSTEM_NAMESPACE

    @property
    def team_label_key(self) -> str:
        """Label that every team's namespace carries."""
        return f"{self.settings.domain}/team"

    @property
    def claimed_key(self) -> str:
        """Annotation of a team's quota: what claims may have in sum, without room for growth."""
        return f"{self.settings.domain}/claimed-storage"

    @property
    def shows_metrics_by_namespace(self) -> bool:
        """Return whether OpenShift shows the metrics of a namespace to who may read them there."""
        return self.monitoring is not None and self.monitoring.stack == OPENSHIFT

    @property
    def stores_logs(self) -> bool:
        """Return whether OpenShift's log store keeps the lines of the teams' pods."""
        is_stated = self.monitoring is not None and self.monitoring.logs is not None
        return is_stated and "log-forwarder" in self.release.features

    @property
    def taints(self) -> list[str]:
        """Keys of the taints on the pools' nodes, sorted."""
        return sorted({pool.hardware.taint for pool in self.pools} - {""})

    @property
    def devices(self) -> list[str]:
        """Resources that only these nodes give, GPUs and virtual functions, sorted."""
        return sorted({name for pool in self.pools for name in pool.resources if "/" in name})
