"""Pools of several kinds in one queue: what lets Kueue tell them apart, and choose."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.rules._check import Check

UNEVEN_FLAVOR_LABELS = Rule(
    id="scheduling/uneven-flavor-labels",
    severity=Severity.ERROR,
    summary="The labels of two pools of one queue have a key in common, with different values.",
    why=(
        "A runtime of one kind of node selects its labels. Kueue compares a flavor's own keys only"
        " (kubernetes-sigs/kueue#12449): without a fabric it admits such a job to the other pool's nodes and counts it"
        " there, and its pods stay Pending, `didn't match Pod's node affinity/selector` (seen with Kueue 0.19.2)."
    ),
    fix="Select both pools by the same key, such as nvidia.com/gpu.product or a node type of your own.",
)
MIXED_TOPOLOGY = Rule(
    id="scheduling/mixed-topology",
    severity=Severity.WARNING,
    summary="The pools of one queue are all on a fabric, or none is.",
    why=(
        "A fabric gives its flavor a topology. In a queue that has both, Kueue takes each pod either way only: ranks"
        ' find `Flavor "<pool>" does not support TopologyAwareScheduling` (seen with Kueue 0.19.2), and the steps of a'
        " job, which name no level, may run on the other pool alone, and wait for it"
        " (sigs.k8s.io/kueue:pkg/cache/scheduler/tas_flavorassigner.go)."
    ),
    fix="Give the pools to two teams, or waive this where no runtime of the team has `initialize`.",
)
EQUAL_PREFERENCE = Rule(
    id="scheduling/equal-preference",
    severity=Severity.WARNING,
    summary="The pools of one queue have preferences of their own.",
    why=(
        "Kueue tries flavors in the order of the queue (seen with Kueue 0.19.2): by the pools' names where nothing else"
        " says which is better."
    ),
    fix="Give each pool a `preference`, the lowest to the one that jobs should fill first.",
)


def uneven_flavor_labels(platform: Platform) -> Iterator[Diagnostic]:
    """Look for a key that tells two pools apart; pools that select each other's nodes are told of elsewhere."""
    for one, two, queue in _neighbours(platform):
        labels, others = one.hardware.labels.items(), two.hardware.labels.items()
        differ = any(two.hardware.labels.get(key, value) != value for key, value in labels)
        if not differ and not labels <= others and not others <= labels:
            message = (
                f"pools `{one.name}` and `{two.name}` of queue {queue} have no key in common with different values:"
                f" {_told(one)} and {_told(two)}"
            )
            notes = [Note(f"labels of a `{one.hardware.name}`", one.hardware.stated("labels"))]
            yield UNEVEN_FLAVOR_LABELS.at(two.hardware.at / "labels", message, notes=notes)


def _neighbours(platform: Platform) -> Iterator[tuple[Pool, Pool, str]]:
    """Yield each two pools that some queue of a cluster has, once, with the first such queue."""
    for site in platform.sites:
        found: dict[tuple[str, str], tuple[Pool, Pool, str]] = {}
        for queue in (queue for tenant in site.tenants for queue in tenant.queues):
            pools = sorted((flavor.pool for flavor in queue.flavors), key=lambda each: each.name)
            for one, two in combinations(pools, 2):
                found.setdefault((one.name, two.name), (one, two, queue.name))
        yield from found.values()


def _told(pool: Pool) -> str:
    return ", ".join(f"{key}={value}" for key, value in pool.hardware.labels.items())


def mixed_topology(platform: Platform) -> Iterator[Diagnostic]:
    """Find pools on a fabric beside others without one."""
    for one, two, queue in _neighbours(platform):
        with_fabric, without = (one, two) if one.fabric else (two, one)
        if with_fabric.fabric and not without.fabric:
            message = (
                f"queue {queue} has pool `{with_fabric.name}` on fabric `{with_fabric.fabric.name}` and pool"
                f" `{without.name}` on none"
            )
            notes = [Note("on a fabric", with_fabric.at / "fabric")]
            yield MIXED_TOPOLOGY.at(without.at.key(), message, notes=notes)


def equal_preference(platform: Platform) -> Iterator[Diagnostic]:
    """Find pools of a queue that only their names put in order."""
    for one, two, queue in _neighbours(platform):
        if one.preference == two.preference:
            message = (
                f"pools `{one.name}` and `{two.name}` of queue {queue} have the same preference, {one.preference}:"
                f" `{one.name}` comes first by its name"
            )
            notes = [Note(f"pool `{one.name}`", one.at / "preference")]
            yield EQUAL_PREFERENCE.at(two.at / "preference", message, notes=notes)


CHECKS = (
    Check(UNEVEN_FLAVOR_LABELS, uneven_flavor_labels),
    Check(MIXED_TOPOLOGY, mixed_topology),
    Check(EQUAL_PREFERENCE, equal_preference),
)
