"""What teams own, hold and keep busy of each pool, as series; and what a node-hour costs.

All are in nodes, so that a share of a node and a node without GPUs count too. A query over some
time turns them into hours and money: docs/how-to/see-what-teams-use.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.model.accelerator import NVIDIA
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.render.alerts.alert import own, with_node
from trainyard.render.alerts.record import Record

_PROMISED, _HELD = "trainyard:team:promised_nodes", "trainyard:team:held_nodes"


def use(site: Site) -> Iterator[Record]:
    """Yield the facts of a cluster's cost, then the use that Kueue and DCGM exporter report.

    A team without a cost center has an empty one, so that no query leaves the team out.
    """
    for tenant in site.tenants:
        center = tenant.team.cost_center
        labels = {**({"cost_center": center} if center else {}), "team": tenant.name}
        yield Record("trainyard:team:cost_center", "vector(1)", labels)
    yield from _promised(site)
    for pool in site.cluster.pools:
        yield from _pool(pool)
    yield Record(_HELD, _held())
    yield Record(
        "trainyard:team:borrowed_nodes",
        f"clamp_min({_HELD} - on (team, pool) {_PROMISED}, 0)",
    )
    yield Record(
        "trainyard:team:idle_nodes",
        f"clamp_min({_PROMISED} - on (team, pool) {_HELD}, 0)",
    )
    if NVIDIA in site.cluster.makers:
        yield Record("trainyard:team:busy_gpus", _busy())


def _promised(site: Site) -> Iterator[Record]:
    """Yield what each team owns; a draining one too, since its nodes are still kept."""
    for tenant in site.tenants:
        for queue in tenant.queues:
            for flavor in queue.flavors:
                labels = {
                    "cluster_queue": queue.name,
                    "pool": flavor.name,
                    "team": tenant.name,
                }
                yield Record(_PROMISED, f"vector({decimal(flavor.quota.in_use.nodes)})", labels)


def _pool(pool: Pool) -> Iterator[Record]:
    """Yield a node's amount of the resource that shares are counted in, and its hourly price."""
    gpu = pool.hardware.gpu
    resource = pool.hardware.counted
    amount = Fraction(gpu.count) if gpu else Fraction(pool.allocatable["cpu"], 1000)
    labels = {"pool": pool.name, "resource": resource}
    yield Record("trainyard:pool:node_capacity", f"vector({decimal(amount)})", labels)
    if pool.price:
        labels = {"currency": pool.price.currency, "pool": pool.name}
        yield Record("trainyard:pool:node_hour_price", f"vector({pool.price.number})", labels)


def _held() -> str:
    """Return the nodes that each team's admitted jobs hold, whether their pods run or not.

    Each replica of Kueue reports its own view. A queue has no team of its own in a metric.
    """
    reserved = (
        'label_replace(kueue_cluster_queue_resource_reservation, "pool", "$1", "flavor", "(.+)")'
    )
    return (
        "sum by (team, pool) ("
        f"max by (cluster_queue, pool, resource) ({reserved})"
        " / on (pool, resource) group_left () trainyard:pool:node_capacity"
        f" * on (cluster_queue, pool) group_left (team) ({_PROMISED} >= bool 0))"
    )


def _busy() -> str:
    """Return the GPUs of each team on which a kernel runs, by the time in which one does."""
    named = with_node(own("DCGM_FI_DEV_GPU_UTIL", "namespace"))
    return (
        "sum by (team, pool) ("
        f"max by (namespace, node, UUID) ({named}) / 100"
        " * on (namespace) group_left (team) trainyard:namespace:team"
        " * on (node) group_left (pool) trainyard:node:pool)"
    )


def decimal(amount: Fraction) -> str:
    """Return a number as PromQL reads it; a part of a node may have no end as a decimal."""
    if amount.denominator == 1:
        return str(amount.numerator)
    return f"{amount.numerator} / {amount.denominator}"
