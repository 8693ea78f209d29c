"""The values of a cluster on which people depend, each in words."""

from __future__ import annotations

from collections.abc import Callable

from trainyard.change.impact.values import NONE, Fact, Facts, listed, yes
from trainyard.model.cleanup import FinishedJobs
from trainyard.model.cluster import Cluster
from trainyard.model.fabric import DeviceFabric, Fabric, RailFabric
from trainyard.model.hardware import Hardware
from trainyard.model.link import LOSSLESS_QUEUE
from trainyard.model.pool import Pool
from trainyard.model.quantity import counted, format_bytes, format_cpu, format_seconds
from trainyard.model.storage import Storage
from trainyard.model.topology import Topology

SYNCED_BY, SYNCED_FROM, CHANGED_BY = "is synced by", "is synced from", "is changed by the account"
"""What is said of a cluster's delivery; another value needs work at Argo CD."""
FURTHER_KINDS = "may write the further kinds"
"""What is said of the kinds that accounts of teams' namespaces write beside the known ones."""

OF_OTHERS, REFUSED = "pods of others on pools", "refused"
"""What is said of pods outside of teams on the nodes of pools."""


def cluster_facts(cluster: Cluster) -> Facts:
    """Yield the values of a cluster; what comes or goes in them is a change too."""
    for part in (_of_delivery, _of_nodes, _of_adoption, _of_queues, _of_prometheus, _of_storage):
        yield from part(cluster)
    for fabric in cluster.rail_fabrics:
        yield Fact("Network", f"fabric {fabric.name}", "gives new teams"), _numbers(fabric)
    for topology in cluster.topologies:
        levels = ", ".join((*topology.levels, "host"))
        yield Fact("Network", f"topology {topology.name}", "has levels"), levels
    for name, owner in cluster.external.items():
        yield Fact("By hand", name, "owner"), owner


def clean_up_facts(clean_up: FinishedJobs) -> Facts:
    """Yield the values of what deletes finished jobs."""
    secret = clean_up.pull_secret.name if clean_up.pull_secret else "no secret"
    nodes = f" on {clean_up.architecture}" if clean_up.architecture else ""
    yield Fact("Jobs", "finished jobs", "are deleted with"), f"{clean_up.image} by {secret}{nodes}"


def _of_delivery(cluster: Cluster) -> Facts:
    settings = cluster.settings
    argocd = f"Argo CD in {cluster.argocd_namespace}"
    source = f"{settings.path} of {settings.repository} at {settings.branch}"
    yield Fact("Delivery", "the cluster", SYNCED_BY), argocd
    yield Fact("Delivery", "the cluster", SYNCED_FROM), source
    yield Fact("Delivery", "the cluster", CHANGED_BY), cluster.argocd_account
    yield Fact("Delivery", "labels and annotations", "begin with"), settings.domain
    yield Fact("Delivery", "the cluster", "has release"), cluster.release.identity
    for component, version in cluster.versions.items():
        yield Fact("Delivery", component, "version"), version


def _of_nodes(cluster: Cluster) -> Facts:
    syncs = {
        "manual": "when somebody starts it",
        "automatic": "at each commit",
        "with-platform": "at each commit, with `platform/`",
    }
    yield Fact("By hand", "objects of nodes", "are synced"), syncs[cluster.node_sync]
    yield (
        Fact("Compliance", "the pod network", "encrypts between nodes"),
        yes(cluster.encrypts_pods),
    )
    yield Fact("Compliance", "nodes", "run in FIPS mode"), yes(cluster.fips)
    yield Fact("By hand", "nobody here", "sets up"), listed(cluster.unavailable)
    daemons = listed(cluster.system_namespaces)
    yield Fact("Access", "pods that may use any node", "are in namespaces"), daemons
    kinds = listed(cluster.member_kinds)
    yield Fact("Access", "accounts of teams' namespaces", FURTHER_KINDS), kinds


def _of_adoption(cluster: Cluster) -> Facts:
    adoption = cluster.adoption
    become = {"deny": REFUSED, "warn": "recorded, with a warning", "audit": "recorded"}
    yield Fact("Access", OF_OTHERS, "are"), become[adoption.pods]
    if adoption.until:
        yield Fact("Access", "the adoption", "ends after"), adoption.until
        yield Fact("Access", "the adoption", "is there because"), adoption.reason
    yield Fact("Delivery", "objects of others", "that Argo CD takes over"), listed(adoption.objects)
    whose = "all namespaces" if adoption.keeps_queues else "teams"
    yield Fact("Jobs", "Kueue", "manages jobs of"), whose


def _of_queues(cluster: Cluster) -> Facts:
    kept = format_seconds(cluster.finished_jobs.keep) if cluster.finished_jobs else "no time"
    yield Fact("Jobs", "finished jobs", "are deleted after"), kept
    yield Fact("Jobs", "Kueue", "queues"), listed(cluster.frameworks)
    shared = {"fair": "by weight", "classical": "to who comes first"}
    yield Fact("Quota", "borrowed nodes", "are given"), shared[cluster.sharing]
    for cohort in cluster.cohorts:
        place = f"below {cohort.parent}" if cohort.parent else "below nothing"
        yield Fact("Quota", f"cohort {cohort.name}"), f"{place} with weight {cohort.weight}"


def _numbers(fabric: RailFabric) -> str:
    link = fabric.link
    first, last = link.display(fabric.first_segment), link.display(fabric.last_segment)
    return f"{link.ranges} {first}-{last} and /{fabric.block} of {fabric.addresses}"


def fabric_facts(fabric: Fabric) -> Facts:
    """Yield the values of a fabric, but for the numbers that new teams get."""
    values = {"has link": fabric.provider.name}
    if isinstance(fabric, DeviceFabric):
        values["gives pods"] = fabric.given
        if fabric.network:
            values["attaches pods to"] = fabric.network
    if isinstance(fabric, RailFabric):
        values |= _of_rails(fabric)
    for what, value in values.items():
        yield Fact("Network", f"fabric {fabric.name}", what), value
    if isinstance(fabric, RailFabric) and LOSSLESS_QUEUE in fabric.link.prepared:
        queue = Fact("By hand", f"switches of fabric {fabric.name}", "carry without loss")
        yield queue, _marks(fabric.traffic_class)


def _of_rails(fabric: RailFabric) -> dict[str, str]:
    traffic_class = fabric.traffic_class
    return {
        "MTU": str(fabric.mtu or "the driver's"),
        "traffic class": "the driver's" if traffic_class < 0 else str(traffic_class),
        "resource names begin with": fabric.resources,
        "is part of network": fabric.physical or NONE,
    }


def _marks(traffic_class: int) -> str:
    """Return what switches tell packets of a class by: its upper six bits, DSCP (RFC 2474)."""
    return "what the driver marks" if traffic_class < 0 else f"DSCP {traffic_class >> 2}"


def topology_facts(topology: Topology) -> Facts:
    """Yield the values of a topology, but for its levels."""
    lowest = counted(topology.leaf_nodes, "node") if topology.leaf_nodes else NONE
    what = "below one switch of the lowest level"
    yield Fact("Network", f"topology {topology.name}", what), lowest


def _of_network(pool: Pool, subject: str) -> Facts:
    yield Fact("Network", subject, "are on fabric"), pool.fabric.name if pool.fabric else NONE
    placed = pool.topology.name if pool.topology else NONE
    yield Fact("Network", subject, "are in topology"), placed
    if pool.has_nvlink:
        yield Fact("Network", subject, "jobs use NVLink between them"), "yes"


def pool_facts(pool: Pool) -> Facts:
    """Yield what somebody sets up on the nodes of a pool."""
    hardware, subject = pool.hardware, f"nodes of {pool.name}"
    kept = hardware.kubelet
    amounts = (
        f"cpu {format_cpu(kept.cpu)}",
        f"memory {format_bytes(kept.memory)}",
        f"ephemeral-storage {format_bytes(kept.ephemeral_storage)}",
    )
    yield from _of_network(pool, subject)
    yield Fact("By hand", subject, "have hardware"), hardware.name
    yield Fact("By hand", subject, "have processors"), hardware.architecture
    yield Fact("By hand", subject, "have GPUs"), hardware.gpu.product if hardware.gpu else NONE
    yield Fact("By hand", subject, "kubelet keeps"), ", ".join(amounts)
    yield Fact("By hand", subject, "pods at most"), str(hardware.total.pods)
    if fabric := pool.device_fabric:
        counts = fabric.counted(hardware) or dict.fromkeys(fabric.networks, 1)
        numbers = ", ".join(f"{number} of {name}" for name, number in counts.items())
        yield Fact("By hand", subject, "advertise"), numbers
    if pool.rails:
        yield from _rail_facts(subject, hardware)


def _rail_facts(subject: str, hardware: Hardware) -> Facts:
    """Yield what somebody sets up on the cards of a pool's rails."""
    card = f"{hardware.nic_vendor}:{hardware.nic_device}"
    parts = counted(hardware.virtual_functions, "virtual function")
    yield Fact("By hand", subject, "rails are"), f"cards {card} with {parts} each"
    rails = (nic for nic in hardware.nics if nic.role == "rail")
    ports = ", ".join(f"{nic.gpu} {nic.pci}" for nic in rails)
    yield Fact("By hand", subject, "rails by GPU"), ports


def watched_facts(pool: Pool) -> Facts:
    """Yield what alerts expect of the rails of a pool."""
    if pool.rails:
        subject = f"rails of {pool.name}"
        devices = listed(rail.nic.device for rail in pool.rails if rail.nic.device)
        yield Fact("Alerts", subject, "are watched as"), devices
        yield Fact("Alerts", subject, "must have"), f"{pool.hardware.link_rate} Gb/s"


def _of_prometheus(cluster: Cluster) -> Facts:
    monitoring = cluster.monitoring
    yield Fact("Access", "dashboards of all teams", "are shown by"), cluster.viewer or NONE
    if monitoring:
        labels = listed(f"{key}={value}" for key, value in sorted(monitoring.labels.items()))
        yield Fact("Alerts", "the Prometheus"), f"{monitoring.stack} in {monitoring.namespace}"
        yield Fact("Alerts", "the Prometheus", "selects objects by"), labels


def _of_storage(cluster: Cluster) -> Facts:
    for storage in cluster.storage:
        yield Fact("Storage", f"storage {storage.name}"), _storage(storage)
    for secret in cluster.pull_secrets:
        place = f"{secret.path} in {secret.secret_store}"
        yield Fact("Runtimes", f"pull secret {secret.name}"), place


def _storage(storage: Storage) -> str:
    """Return where data of a kind of storage lies."""
    places: dict[str, Callable[[Storage], str]] = {
        "nfs": lambda s: f"{s.server}:{s.path} over {counted(s.connections, 'connection')}",
        "s3": lambda s: f"{s.endpoint} by keys of {s.path} in {s.secret_store}",
        "class": lambda s: f"class {s.storage_class}",
        "adopted": lambda s: f"volumes of class {s.storage_class}",
    }
    rest = "encrypted" if storage.encrypted else "not stated as encrypted"
    return f"{places[storage.kind](storage)}, {rest}"
