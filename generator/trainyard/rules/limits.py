"""Lists that are longer than the objects that are made of them may be."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from operator import or_
from typing import Final

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.queue import Queue
from trainyard.rules._check import Check

FRAMEWORKS_LIMIT: Final = 14
"""Most job kinds that the operator's Kueue object takes (its CRD: maxItems), although it knows more."""

_WHY = (
    "The pools are the flavors of one ClusterQueue. The API server refuses a ClusterQueue with more than its CRD takes,"
    " and Argo CD's sync of the platform unit fails. The status of a LocalQueue may take fewer. Kueue then can't"
    " write it: the LocalQueue is never active, and the team's Application stays Progressing, although its jobs are"
    " admitted."
)
TOO_MANY_POOLS_IN_QUEUE = Rule(
    id="scheduling/too-many-pools-in-queue",
    severity=Severity.ERROR,
    summary="A team has quota on no more pools of one class of node (gpu or cpu) than the release's Kueue takes.",
    why=_WHY,
    fix="Divide the pools among several teams, or make one pool of nodes that are alike.",
)
TOO_MANY_RESOURCES_IN_QUEUE = Rule(
    id="scheduling/too-many-resources-in-queue",
    severity=Severity.ERROR,
    summary="The pools of one queue have no more resources, rails included, than the release's Kueue takes.",
    why=(
        f"{_WHY} Kueue's words are `ClusterQueueDoesNotExist` and, in its log,"
        " `status.flavorsReservation[0].resources: Too many: 21: must have at most 16 items` (seen with Kueue 0.16.2)."
    ),
    fix=(
        "Give the fabrics of the queue's pools the same `resources`, so that their rails have the same names; or give"
        " the pools to different teams; or give fewer ports of the hardware the role `rail`."
    ),
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
        most = queue.cluster.release.most_flavors
        if len(queue.flavors) > most:
            message = (
                f"team {queue.team.name} has quota on {len(queue.flavors)} {queue.node_class} pools of cluster"
                f" {queue.cluster.name}; a queue takes {most}"
            )
            yield TOO_MANY_POOLS_IN_QUEUE.at(queue.flavors[most].quota.at, message)


def too_many_resources_in_queue(platform: Platform) -> Iterator[Diagnostic]:
    """Count the resources of each queue; the pool that brings the first one too many is the place."""
    for queue in _queues(platform):
        covered, most = len(queue.covered), queue.cluster.release.most_resources
        if covered > most:
            message = (
                f"the {queue.node_class} pools of team {queue.team.name} on cluster {queue.cluster.name} have {covered}"
                f" resources; a queue takes {most}"
            )
            sums = accumulate((set(flavor.pool.worth) for flavor in queue.flavors), or_)
            flavor = queue.flavors[sum(len(each) <= most for each in sums)]
            hint, notes = _shared_names(queue, flavor.pool)
            cause = f"{queue.node_class} queues on cluster {queue.cluster.name} have more than {most} resources"
            yield TOO_MANY_RESOURCES_IN_QUEUE.at(flavor.quota.at, message, hint=hint, notes=notes, cause=cause)


def _shared_names(queue: Queue, pool: Pool) -> tuple[str, list[Note]]:
    """Return the edit with which the rails of a pool have the names of the queue's first ones, if that is enough."""
    fabrics = {each.pool.fabric.resources: each.pool.fabric for each in queue.flavors if each.pool.fabric}
    other = next((each for each in fabrics.values() if pool.fabric and each.resources != pool.fabric.resources), None)
    if not pool.fabric or not other:
        return "", []
    hint = (
        f"Set `resources: {other.resources}` on fabric `{pool.fabric.name}`: the rails of both fabrics then have the"
        " same names. If that fabric is in use already and the other is new, set"
        f" `resources: {pool.fabric.resources}` on fabric `{other.name}` instead."
    )
    return hint, [Note(f"pool `{pool.name}` is on fabric `{pool.fabric.name}`", pool.at / "fabric")]


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
