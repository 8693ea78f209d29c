"""Reactions of Kueue to queues and cohorts."""

from __future__ import annotations

from functools import partial

from trainyard.change.impact import reach
from trainyard.change.impact.reaction import Effect, Reaction, quiet
from trainyard.change.impact.reactions.conditions import (
    BOTH,
    COUNTED,
    MOVED,
    RECLAIMED,
    REFUSED,
    SEEN,
    SHARED,
    WEIGHED,
    appears,
    appears_below_a_parent,
    becomes,
    has_other_peers,
    has_parent,
    is_lowered,
    is_order,
    lends_less,
)

_changed = partial(Reaction, kind="ClusterQueue", change="changed", source=SEEN)
_CLUSTER_QUEUE = (
    _changed(
        fields="spec.stopPolicy",
        when=becomes("HoldAndDrain"),
        condition="becomes `HoldAndDrain`",
        effect=Effect.EVICTS,
        cause="queues of team `{team}` are drained",
        consequence="Kueue evicts every job of the queue. The jobs stay in the queue, which starts "
        "none.",
        source=BOTH,
        reach=reach.queue,
    ),
    _changed(
        fields="spec.stopPolicy",
        consequence="Running jobs stay. A held queue starts no job, an open one starts those that "
        "wait.",
    ),
    _changed(
        fields="spec.resourceGroups*.nominalQuota",
        when=is_lowered,
        condition="is lowered, and jobs that fitted beside those of others don't any more",
        effect=Effect.RECLAIMS,
        cause="quota of team `{team}` on `{pool}` {own}",
        consequence=RECLAIMED,
        source=BOTH,
        reach=reach.losers_of_flavor,
    ),
    _changed(
        fields="spec.resourceGroups*.lendingLimit",
        when=lends_less,
        condition="is lowered alone, and jobs that fitted beside those of others don't any more",
        effect=Effect.RECLAIMS,
        cause="team `{team}` lends {lent} of `{pool}`",
        consequence=RECLAIMED,
        source=BOTH,
        reach=reach.losers_of_flavor,
    ),
    _changed(
        fields="spec.resourceGroups*Quota",
        consequence="Running jobs stay, also beyond a lowered quota. Jobs that wait see the new "
        "quota at once.",
        source=BOTH,
    ),
    _changed(
        fields="spec.resourceGroups*Limit",
        consequence="Running jobs stay, also beyond a lowered limit. Jobs that wait see the new "
        "limit at once.",
        source=BOTH,
    ),
    _changed(
        fields="spec.resourceGroups*.flavors",
        when=is_order,
        condition="have another order",
        consequence="Running jobs stay. Kueue tries the flavors in the new order for jobs that "
        "wait.",
        source="kubernetes-sigs/kueue:pkg/scheduler/flavorassigner/flavorassigner.go@v0.19.2",
    ),
    _changed(
        fields="spec.resourceGroups",
        consequence="A job on a flavor that leaves the queue keeps running and is not counted, so "
        "that others are admitted beside it.",
    ),
    _changed(
        fields="spec.cohortName",
        when=has_other_peers,
        condition="and the teams of its tree of cohorts are others than before",
        effect=Effect.RECLAIMS,
        cause="cohort of team `{team}` {change}",
        consequence=MOVED,
        source=COUNTED,
        reach=reach.losers_of_move,
    ),
    _changed(
        fields="spec.cohortName",
        consequence="Running jobs stay. The same teams lend to each other.",
        source="kubernetes-sigs/kueue:pkg/cache/hierarchy/manager.go@v0.19.2",
    ),
    _changed(
        fields="spec.preemption",
        effect=Effect.RECLAIMS,
        cause="preemption of the queues changes",
        consequence="From then on Kueue chooses by the new policy which running jobs it evicts for "
        "others.",
        source="kubernetes-sigs/kueue:pkg/scheduler/preemption/preemption.go@v0.19.2",
        reach=reach.queue,
    ),
    _changed(
        fields="spec.fairSharing",
        when=appears,
        condition="is new",
        effect=Effect.RECLAIMS,
        cause="borrowed nodes are shared by weight",
        consequence=SHARED,
        reach=reach.cohort,
    ),
    _changed(
        fields="spec.fairSharing.weight",
        effect=Effect.RECLAIMS,
        cause="weight of team `{team}` {change}",
        consequence=SHARED,
        source=WEIGHED,
        reach=reach.cohort,
    ),
    _changed(
        fields="spec.namespaceSelector",
        consequence="Running jobs stay. New jobs of a namespace that is not selected wait: "
        "`workload namespace doesn't match ClusterQueue selector`.",
    ),
    *quiet(
        "ClusterQueue",
        SEEN,
        created="Nothing runs in it yet.",
        changed="Kueue reads it for jobs that wait; running jobs stay.",
        deleted="The queue takes no more jobs, and stays until the running ones have ended: "
        "`Can't admit new workloads; clusterQueue is terminating`.",
    ),
)

_LOCAL_QUEUE = (
    Reaction(
        kind="LocalQueue",
        change="recreated",
        effect=Effect.RECREATES,
        cause="{field} of LocalQueue `{name}` {change}",
        consequence=f"{REFUSED} Running jobs stay; waiting jobs wait until it is there again.",
        source=SEEN,
        reach=reach.named,
    ),
    Reaction(
        kind="LocalQueue",
        change="changed",
        fields="spec.stopPolicy",
        when=becomes("HoldAndDrain"),
        condition="becomes `HoldAndDrain`",
        effect=Effect.EVICTS,
        cause="LocalQueue `{name}` is drained",
        consequence="Kueue evicts every job that names the queue.",
        source="kubernetes-sigs/kueue:pkg/controller/core/workload_controller.go@v0.19.2",
        reach=reach.team,
    ),
    *quiet(
        "LocalQueue",
        SEEN,
        created="Nothing runs in it yet.",
        changed="Running jobs stay.",
        deleted="Running jobs stay. Waiting jobs wait until a queue of that name is there again.",
    ),
)

_cohort = partial(Reaction, kind="Cohort", change="changed", source=SEEN)
_COHORT = (
    _cohort(
        fields="spec.parentName",
        when=has_other_peers,
        condition="and the teams of its tree of cohorts are others than before",
        effect=Effect.RECLAIMS,
        cause="parent of cohort `{name}` {change}",
        consequence=MOVED,
        source=COUNTED,
        reach=reach.losers_of_move,
    ),
    _cohort(
        fields="spec.fairSharing",
        when=appears_below_a_parent,
        condition="is new, below a parent",
        effect=Effect.RECLAIMS,
        cause="borrowed nodes are shared by weight",
        consequence=SHARED,
        reach=reach.borrowers,
    ),
    _cohort(
        fields="spec.fairSharing.weight",
        when=has_parent,
        condition="changes, below a parent",
        effect=Effect.RECLAIMS,
        cause="weight of cohort `{name}` {change}",
        consequence=SHARED,
        reach=reach.borrowers,
    ),
    Reaction(
        kind="Cohort",
        change="deleted",
        when=has_other_peers,
        condition="and the teams of its tree of cohorts are others than before",
        effect=Effect.RECLAIMS,
        cause="cohort `{name}` is removed",
        consequence="Queues that name it stay together without its parent. Running jobs stay until "
        "an owner needs its own nodes: then whole jobs on borrowed nodes are evicted.",
        source="kubernetes-sigs/kueue:pkg/cache/hierarchy/manager.go@v0.19.2",
        reach=reach.losers_of_move,
    ),
    *quiet(
        "Cohort",
        "kubernetes-sigs/kueue:pkg/cache/hierarchy/manager.go@v0.19.2",
        created="Queues that name it are a cohort already.",
        changed="Running jobs stay.",
        deleted="Queues that name it stay a cohort.",
    ),
)

REACTIONS = (*_CLUSTER_QUEUE, *_LOCAL_QUEUE, *_COHORT)
