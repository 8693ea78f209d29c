"""Lists that are longer than the objects that are made of them may be."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from operator import or_
from typing import Final

from generator.diagnostics import Diagnostic, Rule, Severity
from generator.model.platform import Platform
from generator.model.queue import FLAVORS_LIMIT, RESOURCES_LIMIT, Queue
from generator.rules._check import Check

FRAMEWORKS_LIMIT: Final = 14
"""Most job kinds that the operator's Kueue object takes (its CRD: maxItems), although it knows more."""

TOO_MANY_POOLS_IN_QUEUE = Rule(
    id="scheduling/too-many-pools-in-queue",
    severity=Severity.ERROR,
    summary=f"A team has quota on at most {FLAVORS_LIMIT} pools of one class of node (gpu or cpu) on a cluster.",
    why=(
        "The pools are the flavors of one ClusterQueue. The API server refuses a ClusterQueue with more, and Argo CD's"
        " sync of the platform unit fails."
    ),
    fix="Divide the pools among several teams, or make one pool of nodes that are alike.",
)
TOO_MANY_RESOURCES_IN_QUEUE = Rule(
    id="scheduling/too-many-resources-in-queue",
    severity=Severity.ERROR,
    summary=f"The pools of one queue have at most {RESOURCES_LIMIT} resources, each rail of each fabric among them.",
    why=(
        "A ClusterQueue covers every resource of its pools. The API server refuses one with more, and Argo CD's sync of"
        " the platform unit fails."
    ),
    fix="Give pools of different fabrics to different teams, or give fewer ports of the hardware the role `rail`.",
)
TOO_MANY_FRAMEWORKS = Rule(
    id="scheduling/too-many-frameworks",
    severity=Severity.ERROR,
    summary=f"Where an operator installs Kueue, a cluster has at most {FRAMEWORKS_LIMIT} `frameworks`.",
    why="The API server refuses the operator's Kueue object with more, and Argo CD's sync of the platform unit fails.",
    fix="Remove the job kinds that nobody submits.",
)


def _queues(platform: Platform) -> Iterator[Queue]:
    return (queue for site in platform.sites for tenant in site.tenants for queue in tenant.queues)


def too_many_pools_in_queue(platform: Platform) -> Iterator[Diagnostic]:
    """Count the pools of each queue; the first that is too many is the place."""
    for queue in _queues(platform):
        if len(queue.flavors) > FLAVORS_LIMIT:
            message = (
                f"team {queue.team.name} has quota on {len(queue.flavors)} {queue.node_class} pools of cluster"
                f" {queue.cluster.name}; a queue takes {FLAVORS_LIMIT}"
            )
            yield TOO_MANY_POOLS_IN_QUEUE.at(queue.flavors[FLAVORS_LIMIT].quota.at, message)


def too_many_resources_in_queue(platform: Platform) -> Iterator[Diagnostic]:
    """Count the resources of each queue; the pool that brings the first one too many is the place."""
    for queue in _queues(platform):
        covered = len(queue.covered)
        if covered > RESOURCES_LIMIT:
            message = (
                f"the {queue.node_class} pools of team {queue.team.name} on cluster {queue.cluster.name} have {covered}"
                f" resources; a queue takes {RESOURCES_LIMIT}"
            )
            sums = accumulate((set(flavor.pool.worth) for flavor in queue.flavors), or_)
            enough = sum(len(each) <= RESOURCES_LIMIT for each in sums)
            yield TOO_MANY_RESOURCES_IN_QUEUE.at(queue.flavors[enough].quota.at, message)


def too_many_frameworks(platform: Platform) -> Iterator[Diagnostic]:
    """Count what is listed where the operator's object is made."""
    for cluster in (site.cluster for site in platform.sites):
        listed = len(cluster.frameworks)
        if listed > FRAMEWORKS_LIMIT and "kueue-operator" in cluster.release.features:
            message = (
                f"cluster {cluster.name} lists {listed} frameworks; the Kueue object of {cluster.release.name} takes"
                f" {FRAMEWORKS_LIMIT}"
            )
            yield TOO_MANY_FRAMEWORKS.at(cluster.at / "frameworks", message)


CHECKS = (
    Check(TOO_MANY_POOLS_IN_QUEUE, too_many_pools_in_queue),
    Check(TOO_MANY_RESOURCES_IN_QUEUE, too_many_resources_in_queue),
    Check(TOO_MANY_FRAMEWORKS, too_many_frameworks),
)
