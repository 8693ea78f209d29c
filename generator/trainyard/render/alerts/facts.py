"""Facts of the profiles as series: which team owns what, what is promised, how fast a rail is.

So an expression holds for each cluster, and a change of a quota changes one number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from math import ceil

from trainyard.model.accelerator import NVIDIA
from trainyard.model.cluster import Cluster
from trainyard.model.held import held_queues
from trainyard.model.monitoring import JOB_STATES, KUBELET, WAITING
from trainyard.model.named import by_name
from trainyard.model.ownership import owned_nodes, owners_of
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.render.alerts.alert import MAINTENANCE, NO_PRIORITY, PLATFORM, of_namespace, own
from trainyard.render.alerts.controllers import CONTROLLERS
from trainyard.render.alerts.gpus import XID
from trainyard.render.alerts.nodes import LACKING
from trainyard.render.alerts.pods import job_of_pod
from trainyard.render.alerts.record import Record
from trainyard.render.alerts.use import decimal, use

_OTHER = re.compile(r"[^a-zA-Z0-9_]")
_CAPITAL = re.compile(r"([a-z0-9])([A-Z])")


def facts(site: Site) -> Iterator[Record]:
    """Yield the facts that the alerts of a cluster compare metrics with, then what teams use."""
    sources = by_name(site.cluster.sources)
    yield from _teams(site)
    if "argocd" in sources:
        yield from _applications(site)
    yield from _controllers(site)
    yield from _pools(site)
    yield from _queues()
    if JOB_STATES in sources:
        yield from _waiting(site.cluster)
    if NVIDIA.exporter in sources:
        yield from (*_gpus(site), XID)
    if site.cluster.rail_fabrics:
        yield from _rails(site)
    if KUBELET in sources:
        yield _claims(site.cluster)
    yield from use(site)


def _controllers(site: Site) -> Iterator[Record]:
    """Yield the namespace of each controller without which no job starts."""
    for source in site.cluster.sources:
        if source.name in CONTROLLERS:
            where = {"namespace": source.namespace, "source": source.name}
            yield Record("trainyard:controller:namespace", "vector(1)", where)


def _teams(site: Site) -> Iterator[Record]:
    """Yield the team of each queue with its state, and of each namespace.

    Running jobs of a held queue go on, so dashboards show it; alerts wait for an open one.
    """
    held = held_queues(site)
    for tenant in site.tenants:
        for queue in tenant.queues:
            state = "held" if queue.state.is_open and queue.name in held else queue.state.word
            labels = {"cluster_queue": queue.name, "state": state, "team": tenant.name}
            yield Record("trainyard:cluster_queue:team", "vector(1)", labels)
    for space in site.spaces:
        labels = {"namespace": space.namespace, "team": space.team.name}
        yield Record("trainyard:namespace:team", "vector(1)", labels)


def _applications(site: Site) -> Iterator[Record]:
    """Yield the team of each Application, and whether Argo CD syncs it by itself."""
    by_hand = site.cluster.has_node_unit and site.cluster.node_sync == "manual"
    parts = ["argocd", "platform", *(["nodes"] if site.cluster.has_node_unit else [])]
    owners = dict.fromkeys(map(site.part, parts), PLATFORM)
    for tenant in site.tenants:
        owners[tenant.application] = tenant.name
    for name, team in sorted(owners.items()):
        manual = by_hand and name == site.part("nodes")
        labels = {"name": name, "sync": "manual" if manual else "automatic", "team": team}
        yield Record("trainyard:application:team", "vector(1)", labels)


def _pools(site: Site) -> Iterator[Record]:
    """Yield the nodes of each pool, how many its teams own now, and those in maintenance."""
    owners = owners_of(site.in_use)
    for pool in site.cluster.pools:
        labels = {"pool": pool.name}
        owned = ceil(owned_nodes(owners[pool.name]))
        yield Record("trainyard:pool:promised_nodes", f"vector({owned})", labels)
        spare = f"vector({pool.in_use.nodes - owned})"
        yield Record("trainyard:pool:spare_nodes", spare, labels)
        nodes = f"max by (node) (kube_node_labels{{{_matchers(pool)}}})"
        yield Record("trainyard:node:pool", nodes, labels)
        yield from _lacking(pool)
        for window in pool.maintenance:
            for node in window.nodes:
                yield Record(MAINTENANCE, f"vector({window.end})", {"node": node, **labels})


def _lacking(pool: Pool) -> Iterator[Record]:
    """Yield the nodes of a pool that offer less than whole-node jobs ask for, by resource.

    Without GPUs and rails it is the CPUs by which jobs are counted.
    """
    devices = {rail.resource for rail in pool.rails} | {pool.hardware.counted}
    for name in sorted(devices):
        amount = Fraction(pool.allocatable[name], 1000 if name == "cpu" else 1)
        offered = f'kube_node_status_allocatable{{resource="{_OTHER.sub("_", name)}"}}'
        yield Record(
            LACKING,
            f'trainyard:node:pool{{pool="{pool.name}"}} '
            f"unless on (node) max by (node) ({offered}) >= {decimal(amount)}",
            {"pool": pool.name, "resource": name},
        )


def limits(cluster: Cluster) -> dict[str, int]:
    """Return the seconds that a job of each priority may wait, and one without a priority."""
    return {**cluster.waiting_limits, NO_PRIORITY: WAITING}


def _waiting(cluster: Cluster) -> Iterator[Record]:
    """Yield the seconds that a job of each priority may wait."""
    for name, limit in limits(cluster).items():
        labels = {"priority": name}
        yield Record("trainyard:priority:waiting_seconds", f"vector({limit})", labels)


def _gpus(site: Site) -> Iterator[Record]:
    """Yield how busy each GPU of a job is, and the tensor cores of each of its pods.

    The exporter's ``pod`` is that of the scrape if its own labels do not win over it.
    """
    of_job = f"* on (namespace, pod) group_left (trainjob) ({job_of_pod(site)})"
    used = own("avg_over_time(DCGM_FI_DEV_GPU_UTIL[15m])", "namespace", "pod")
    tensor = own("avg_over_time(DCGM_FI_PROF_PIPE_TENSOR_ACTIVE[15m])", "namespace", "pod")
    yield Record(
        "trainyard:gpu:used_percent",
        f"max by (namespace, pod, gpu) ({used}) {of_job}",
    )
    yield Record(
        "trainyard:pod:tensor_active",
        f"max by (namespace, pod) ({tensor}) {of_job}",
    )


def _claims(cluster: Cluster) -> Record:
    """Return the used part of each mounted claim of a team.

    An NFS volume has the size of its whole export, so the claims that we bind to one are left out.
    """
    exports = sorted(storage.name for storage in cluster.storage if storage.kind == "nfs")
    measured = f'{{persistentvolumeclaim!~"{"|".join(exports)}"}}' if exports else ""
    return Record(
        "trainyard:claim:used_ratio",
        of_namespace(
            "max by (namespace, persistentvolumeclaim) "
            f"(kubelet_volume_stats_used_bytes{measured} / kubelet_volume_stats_capacity_bytes)"
        ),
    )


def _matchers(pool: Pool) -> str:
    """Return matchers of a pool's labels as kube-state-metrics names them."""
    labels = pool.labels.items()
    return ",".join(f'{_label(key)}="{value}"' for key, value in sorted(labels))


def _label(key: str) -> str:
    """Return a label of a node as a label of a series.

    kubernetes/kube-state-metrics:internal/store/utils.go@v2.17.0.
    """
    return "label_" + _CAPITAL.sub(r"\1_\2", _OTHER.sub("_", key)).lower()


def _queues() -> Iterator[Record]:
    """Yield what waits in each queue, and how much of its own quota it uses."""
    pending = "kueue_pending_workloads"
    yield Record(
        "trainyard:cluster_queue:pending",
        f"sum by (cluster_queue) (max by (cluster_queue, status) ({pending}))",
    )
    yield Record(
        "trainyard:cluster_queue:pending_active",
        f'max by (cluster_queue) ({pending}{{status="active"}})',
    )
    used = _by_resource("kueue_cluster_queue_resource_reservation")
    own_quota = _by_resource("kueue_cluster_queue_nominal_quota")
    yield Record(
        "trainyard:cluster_queue:used_ratio",
        f"max by (cluster_queue) ({used} / ({own_quota} > 0))",
    )


def _by_resource(metric: str) -> str:
    return f"sum by (cluster_queue, resource) (max by (cluster_queue, flavor, resource) ({metric}))"


def _rails(site: Site) -> Iterator[Record]:
    """Yield the pool of each node exporter, and the rate of each rail that its node must have."""
    name = 'label_replace(node_uname_info, "node", "$1", "nodename", "(.+)")'
    yield Record(
        "trainyard:instance:pool",
        f"max by (instance, node, pool) ({name} * on (node) group_left (pool) trainyard:node:pool)",
    )
    for pool in site.cluster.pools:
        rate = pool.hardware.link_rate * 10**9 // 8
        expr = f'{rate} * trainyard:instance:pool{{pool="{pool.name}"}}'
        for rail in pool.rails:
            if rail.nic.device:
                labels = {"device": rail.nic.device, "pool": pool.name}
                yield Record("trainyard:rail:bytes_per_second", expr, labels)
