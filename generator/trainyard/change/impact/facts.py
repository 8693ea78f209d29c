"""Compare the values of profiles on which people depend, each in words.

What objects, quotas and rights show is compared elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trainyard.change.impact.cluster_facts import (
    clean_up_facts,
    cluster_facts,
    fabric_facts,
    pool_facts,
    topology_facts,
    watched_facts,
)
from trainyard.change.impact.values import NONE, Fact, Facts, listed, yes
from trainyard.change.objects import Sides
from trainyard.model.cluster import Cluster
from trainyard.model.platform import Site
from trainyard.model.quantity import counted, format_bytes, format_seconds
from trainyard.model.runtime import Runtime
from trainyard.model.space import Space
from trainyard.model.team import NO_QUEUE, Team
from trainyard.model.tenant import Tenant
from trainyard.model.unavailable import API_SERVER_FLAGS
from trainyard.render.views.site import SiteView


@dataclass(frozen=True, slots=True)
class FactChange:
    """A value that people depend on, and that no other change shows.

    Args:
        topic: heading of the lines that it belongs to, e.g. ``Storage``.
        subjects: whose value it is, sorted.
        what: the value is; empty where the subject says it.
        before, after: in words; ``none`` where there is no value.
    """

    topic: str
    subjects: tuple[str, ...]
    what: str
    before: str
    after: str


Holders = Iterator[tuple[tuple[str, str], dict[Fact, str]]]
"""Whose values they are -> its values; they are compared where it is on both sides."""


def fact_changes(sides: Sides) -> tuple[FactChange, ...]:
    """Return each value that differs, sorted; what comes or goes as a whole is left out."""
    if not sides.are_comparable:
        return ()
    old, new = dict(_holders(sides.old, sides.renamed)), dict(_holders(sides.new, {}))
    found: dict[tuple[str, str, str, str], set[str]] = defaultdict(set)
    for holder in old.keys() & new.keys():
        for fact in old[holder].keys() | new[holder].keys():
            before, after = old[holder].get(fact, NONE), new[holder].get(fact, NONE)
            if before != after:
                found[fact.topic, fact.what, before, after].add(fact.subject)
    changes = []
    for (topic, *values), subjects in sorted(found.items()):
        changes.append(FactChange(topic, tuple(sorted(subjects)), *values))
    return tuple(changes)


def _holders(site: Site | None, renamed: Mapping[str, str]) -> Holders:
    """Yield the values of the cluster and its parts, and of each team, namespace and runtime."""
    if site is None:
        return
    yield from _of_cluster(site.cluster)
    yield from _audited(site)
    answers = yes(any(tenant.team.compliance for tenant in site.tenants))
    yield ("evidence", ""), {Fact("Compliance", "COMPLIANCE.md", "is in the tree"): answers}
    for tenant in site.tenants:
        name = renamed.get(tenant.name, tenant.name)
        yield ("team", name), dict(_of_team(name, tenant))
        yield from _of_members(name, tenant)
        yield from _of_claims(name, tenant)
        for space in tenant.spaces:
            yield ("namespace", space.namespace), dict(_of_space(space))
            for launch in space.launches:
                yield ("runtime", _versioned(launch.runtime)), dict(_of_runtime(launch.runtime))


def _audited(site: Site) -> Holders:
    """Yield whose writes OpenShift records; elsewhere a file of the tree says so."""
    cluster = site.cluster
    if "audit-policy" not in cluster.features and API_SERVER_FLAGS not in cluster.unavailable:
        whose = "everybody" if SiteView(site).records_all_writes else listed(cluster.operators)
        fact = Fact("By hand", "the API server", "records, by the README's command, writes of")
        yield ("audit", ""), {fact: whose}


def _of_cluster(cluster: Cluster) -> Holders:
    yield ("cluster", ""), dict(cluster_facts(cluster))
    for pool in cluster.pools:
        yield ("pool", pool.name), dict(pool_facts(pool))
    for pool in cluster.pools if cluster.monitoring else ():
        yield ("watched rails", pool.name), dict(watched_facts(pool))
    for fabric in cluster.fabrics:
        yield ("fabric", fabric.name), dict(fabric_facts(fabric))
    for topology in cluster.topologies:
        yield ("topology", topology.name), dict(topology_facts(topology))
    for priority in cluster.priorities:
        fact = Fact("Jobs", f"priority {priority.name}", "value")
        yield ("priority", priority.name), {fact: str(priority.value)}
    if cluster.finished_jobs:
        yield ("clean-up", ""), dict(clean_up_facts(cluster.finished_jobs))


def _of_team(name: str, tenant: Tenant) -> Facts:
    team = tenant.team
    yield Fact("Alerts", f"team {name}", "is told at"), team.contact
    encrypts = "not stated" if team.encrypts_transit is None else yes(team.encrypts_transit)
    yield Fact("Compliance", f"data of {name}", "must be encrypted between nodes"), encrypts
    yield Fact("Runtimes", name, "default runtime"), team.default_runtime or NONE
    copies = "TrainingRuntimes that its admins may make in each namespace"
    refused = "" if team.own_runtimes else ", and new jobs with those that exist are refused"
    yield Fact("Runtimes", name, copies), f"{team.own_runtimes}{refused}"
    yield Fact("Jobs", f"a job of {name} without a queue's label"), _default_queue(team, tenant)
    yield Fact("Quota", f"borrowed nodes of {name}", "weight"), str(team.weight)
    yield Fact("Delivery", name, "hand-written components"), listed(team.components)
    yield Fact("Storage", name, "folder on NFS servers and in secret stores"), team.folder
    become = {"enforce": "refused", "warn": "recorded, with a warning", "observe": "recorded"}
    yield Fact("Access", f"team {name}", "what breaks its rules is"), become[team.stage.word]
    what = "new jobs outside of its queues, and its new pods on the pools' nodes, are"
    yield (
        Fact("Jobs", f"team {name}", what),
        become["observe" if team.stage.observes else "enforce"],
    )
    if not team.stage.enforces:
        yield Fact("Access", f"team {name}", "is not isolated until after"), team.stage.until
        yield Fact("Access", f"team {name}", "is not isolated because"), team.stage.reason


def _of_members(name: str, tenant: Tenant) -> Holders:
    """Yield the values of a team's measures, debuggers and accounts."""
    team = tenant.team
    for measure, control in team.compliance.controls.items() if team.compliance else ():
        fact = Fact("Compliance", name, f"evidence of {measure} cites")
        yield (f"control {measure}", name), {fact: control}
    if team.debuggers:
        fact = Fact("Access", f"debuggers of {name}", "have the role because")
        yield ("debuggers", name), {fact: team.debuggers.reason}
    for account in team.accounts:
        fact = Fact("Access", f"service account {account.name} of {name}", "is made by")
        yield (f"account {account.name}", name), {fact: account.owner or "Trainyard"}


def _of_claims(name: str, tenant: Tenant) -> Holders:
    """Yield who may claim storage, of a team that may."""
    if any(space.allowances for space in tenant.spaces):
        roles = {*tenant.team.groups, *(account.role for account in tenant.team.accounts)}
        who = "its admins" if "admin" in roles else "nobody, for it has no admin"
        yield ("claims", name), {Fact("Storage", name, "storage may be claimed by"): who}


def _default_queue(team: Team, tenant: Tenant) -> str:
    if team.stage.observes:
        return "is in no queue"
    own = tenant.spaces[0].default_class
    is_refused = team.default_queue == NO_QUEUE or (tenant.queues and not own)
    return "is refused" if is_refused else f"is in queue {own or NONE}"


def _of_space(space: Space) -> Facts:
    if space.ids:
        ids = f"{space.ids.first} and up, level {space.ids.level}"
        yield Fact("Access", space.namespace, "user ids of its pods"), ids
    if space.profile.name:
        size = counted(space.profile.largest_job, "node")
        yield Fact("Jobs", space.namespace, "largest job"), size
    for queue in space.queues:
        what = f"further names of queue {queue.node_class}"
        yield Fact("Jobs", space.namespace, what), listed(space.further_names(queue))
    for allowed in space.allowances:
        what = f"claims of {allowed.storage.name} that admins make, in sum"
        yield Fact("Storage", space.namespace, what), format_bytes(allowed.size)
    for claim in space.claims:
        volume = f"a claim of {claim.request.volume}" if claim.request.volume else "a claim"
        yield Fact("Storage", space.namespace, claim.name), volume
    for bucket in space.buckets:
        yield Fact("Storage", space.namespace, bucket.name), f"bucket {bucket.bucket}"


def _of_runtime(runtime: Runtime) -> Facts:
    small = " in a pod of its own" if runtime.small_launcher else ""
    values: dict[str, str] = {
        "name that dashboards show": runtime.display_name,
        "what it is for": runtime.description,
        "documentation": runtime.docs,
        "SDKs list it as": runtime.framework,
        "its image is pulled with": runtime.pull_secret,
        "ranks are started by": f"{runtime.launcher.name}{small}",
        "steps before the ranks": listed(step.name for step in runtime.initializers),
        "libraries": listed(f"{name} {version}" for name, version in runtime.libraries.items()),
        "nodes of the largest job": str(runtime.max_nodes),
        "an attempt may run": _seconds(runtime.deadline),
        "ranks are killed after SIGTERM and": format_seconds(runtime.grace),
        "is supported until": runtime.end or "any day",
        "a failed job is started again": counted(runtime.restarts, "time"),
    }
    for what, value in values.items():
        yield Fact("Runtimes", _versioned(runtime), what), value or NONE


def _versioned(runtime: Runtime) -> str:
    return f"{runtime.family}-v{runtime.version}"


def _seconds(seconds: int) -> str:
    return format_seconds(seconds) if seconds else "any time"
