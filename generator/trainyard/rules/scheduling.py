"""Queues, priorities and topologies of a cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.fabric import HOSTNAME
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._walk import held

_KUBERNETES = re.compile(r"(^|\.)(kubernetes|k8s)\.io/")
_KNOWN_LEVELS = frozenset({HOSTNAME, "topology.kubernetes.io/region", "topology.kubernetes.io/zone"})
"""Well-known labels of Kubernetes that say where a node is."""

WEIGHT_WITHOUT_FAIR_SHARING = Rule(
    id="scheduling/weight-without-fair-sharing",
    severity=Severity.WARNING,
    summary="Cohorts have weights only where borrowed nodes are shared by weight.",
    why="Kueue ignores weights unless fair sharing is on (seen with Kueue 0.19.2): who comes first borrows first.",
    fix="Set `sharing: fair`, or take the weight away.",
)
FAIR_SHARING_IN_A_COHORT_TREE = Rule(
    id="scheduling/fair-sharing-in-a-cohort-tree",
    severity=Severity.WARNING,
    summary="Fair sharing is used with flat cohorts only.",
    why=(
        "When an owner takes its nodes back and two have borrowed as much, the one in a cohort of its own below pays,"
        " whatever the priorities: its urgent job is evicted and the other's batch job stays (seen with Kueue 0.19.2;"
        " kubernetes-sigs/kueue#10131)."
    ),
    fix="Set `sharing: classical`, or take the `parent` away.",
)
NO_PRIORITIES = Rule(
    id="scheduling/no-priorities",
    severity=Severity.WARNING,
    summary="A cluster has priorities.",
    why=(
        "All jobs of a team are equal: an urgent one waits behind every batch job, and the newest is evicted first"
        " (seen with Kueue 0.19.2)."
    ),
    fix="Add `priorities`, e.g. `{production: 1000, batch: 500}`.",
)
EQUAL_PRIORITIES = Rule(
    id="scheduling/equal-priorities",
    severity=Severity.WARNING,
    summary="No two priorities of a cluster have the same value.",
    why=(
        "Kueue compares values, not names: jobs of the one class never go before those of the other, nor evict them"
        " (seen with Kueue 0.19.2)."
    ),
    fix="Give each class its own value, or remove one.",
)
TOP_PRIORITY_FOR_ALL = Rule(
    id="scheduling/top-priority-for-all",
    severity=Severity.WARNING,
    summary="Not every team that borrows may use the highest priority of the cluster.",
    why=(
        "When an owner takes nodes back, the borrowers' jobs of the lowest priority go first (seen with Kueue 0.19.2):"
        " whoever writes the highest on everything is never evicted, so soon everybody does, and priorities say"
        " nothing."
    ),
    fix="Say in the teams' `priorities` which they may use.",
)
HOSTNAME_AS_LEVEL = Rule(
    id="scheduling/hostname-as-level",
    severity=Severity.ERROR,
    summary="The levels of a fabric are switches; the node itself is not listed.",
    why=(
        "Trainyard adds the node as the lowest level, and the API server refuses a Topology that names it twice:"
        " `spec.levels: Invalid value: must be unique` (seen with Kueue 0.19.2)."
    ),
    fix="Remove kubernetes.io/hostname from `levels`.",
)
MADE_UP_TOPOLOGY_LABEL = Rule(
    id="scheduling/made-up-topology-label",
    severity=Severity.WARNING,
    summary="A level of Kubernetes' own name is one that Kubernetes sets.",
    why=(
        "Kubernetes knows regions, zones and hosts; nobody sets its other names, and Kueue places nothing then: `no"
        " topology domains at level: <label>` (seen with Kueue 0.19.2)."
    ),
    fix="Take a label of your own, which whoever knows the racks and switches sets, such as ml.example.com/leaf.",
)
QUEUE_WITHOUT_TRAINJOB = Rule(
    id="scheduling/queue-without-trainjob",
    severity=Severity.ERROR,
    summary="TrainJob is among the frameworks that Kueue queues.",
    why=(
        "Kueue does not see the jobs: they start at once beside the queue and its quota, and on tainted nodes their"
        " pods stay Pending: `<n> node(s) had untolerated taint(s)` (seen with Kueue 0.19.2), as the toleration is the"
        " queue's."
    ),
    fix="Add TrainJob to `frameworks`, or remove the key for its default.",
)


def weight_without_fair_sharing(platform: Platform) -> Iterator[Diagnostic]:
    """Find weights in clusters with classical sharing."""
    for site in platform.sites:
        for cohort in site.cluster.cohorts:
            if cohort.weight != 1 and site.cluster.sharing != "fair":
                message = f"cohort `{cohort.name}` has weight {cohort.weight}, but sharing is {site.cluster.sharing}"
                notes = [Note("said here", site.cluster.at / "sharing")]
                yield WEIGHT_WITHOUT_FAIR_SHARING.at(cohort.at / "weight", message, notes=notes)


def fair_sharing_in_a_cohort_tree(platform: Platform) -> Iterator[Diagnostic]:
    """Find cohorts with a parent in clusters with fair sharing."""
    for site in platform.sites:
        children = [cohort for cohort in site.cluster.cohorts if cohort.parent]
        if children and site.cluster.sharing == "fair":
            message = f"cluster {site.name} shares by weight in a tree of cohorts"
            notes = [Note(f"`{cohort.name}` has a parent", cohort.at / "parent") for cohort in children]
            yield FAIR_SHARING_IN_A_COHORT_TREE.at(site.cluster.at / "sharing", message, notes=notes)


def no_priorities(platform: Platform) -> Iterator[Diagnostic]:
    """Find clusters without priority classes."""
    for site in platform.sites:
        if not site.cluster.priorities:
            yield NO_PRIORITIES.at(site.cluster.at / "priorities", f"cluster {site.name} has no priorities")


def equal_priorities(platform: Platform) -> Iterator[Diagnostic]:
    """Find classes with one value; three of them are two findings."""
    for site in platform.sites:
        for one, two in pairwise(sorted(site.cluster.priorities, key=lambda each: (each.value, each.name))):
            if one.value == two.value:
                message = f"priorities `{one.name}` and `{two.name}` both have the value {one.value}"
                yield EQUAL_PRIORITIES.at(two.at, message, notes=[Note(f"`{one.name}`", one.at)])


def top_priority_for_all(platform: Platform) -> Iterator[Diagnostic]:
    """Look for a borrower that may not use the highest class; where only one borrows nobody competes."""
    for site in platform.sites:
        borrowers = [tenant for tenant in site.tenants if any(flavor.quota.borrowed for flavor in held(tenant))]
        for highest in site.cluster.priorities[1:][-1:]:
            may = [each.name for each in borrowers if any(highest in space.priorities for space in each.spaces)]
            if len(may) == len(borrowers) > 1:
                message = f"teams {', '.join(may)} borrow, and all may submit as `{highest.name}`, which goes first"
                yield TOP_PRIORITY_FOR_ALL.at(highest.at, message)


def hostname_as_level(platform: Platform) -> Iterator[Diagnostic]:
    """Find the node among a fabric's levels."""
    for site in platform.sites:
        for fabric in site.cluster.fabrics:
            for i, level in enumerate(fabric.levels):
                if level == HOSTNAME:
                    message = f"fabric `{fabric.name}` lists {HOSTNAME} as a level"
                    yield HOSTNAME_AS_LEVEL.at(fabric.at / "levels" / i, message)


def made_up_topology_label(platform: Platform) -> Iterator[Diagnostic]:
    """Find levels below Kubernetes' domains that it does not set."""
    for fabric in (fabric for site in platform.sites for fabric in site.cluster.fabrics):
        for i, level in enumerate(fabric.levels):
            if _KUBERNETES.search(level) and level not in _KNOWN_LEVELS:
                message = f"fabric `{fabric.name}` has the level {level}, which Kubernetes does not set"
                yield MADE_UP_TOPOLOGY_LABEL.at(fabric.at / "levels" / i, message)


def queue_without_trainjob(platform: Platform) -> Iterator[Diagnostic]:
    """Find clusters whose Kueue does not look at TrainJobs."""
    for site in platform.sites:
        if "TrainJob" not in site.cluster.frameworks:
            message = f"Kueue of cluster {site.name} queues {', '.join(site.cluster.frameworks)}, but not TrainJob"
            yield QUEUE_WITHOUT_TRAINJOB.at(site.cluster.at / "frameworks", message)


CHECKS = (
    Check(WEIGHT_WITHOUT_FAIR_SHARING, weight_without_fair_sharing),
    Check(FAIR_SHARING_IN_A_COHORT_TREE, fair_sharing_in_a_cohort_tree),
    Check(NO_PRIORITIES, no_priorities),
    Check(EQUAL_PRIORITIES, equal_priorities),
    Check(TOP_PRIORITY_FOR_ALL, top_priority_for_all, every=("teams/", "quota", "pools")),
    Check(HOSTNAME_AS_LEVEL, hostname_as_level),
    Check(MADE_UP_TOPOLOGY_LABEL, made_up_topology_label),
    Check(QUEUE_WITHOUT_TRAINJOB, queue_without_trainjob),
)
