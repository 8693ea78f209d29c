"""List a team's effective values, each with the place that it comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.diagnostics import Pointer
from trainyard.model.launch import Launch
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.quantity import counted, format_amount, format_bytes, format_cpu
from trainyard.model.queue import Queue
from trainyard.model.space import Grant, Space
from trainyard.model.team import Quota, Team, Term
from trainyard.model.tenant import Tenant


@dataclass(frozen=True, slots=True)
class Value:
    """One effective value.

    Args:
        at: its place in a profile; None when it follows from other values.
    """

    name: str
    value: str
    at: Pointer | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """The team itself, or the team on one cluster."""

    title: str
    values: tuple[Value, ...]


def effective(platform: Platform, name: str) -> tuple[Section, ...]:
    """Return the values of a team, on each cluster too unless it is retired."""
    team = next(team for team in platform.teams if team.name == name)
    tenants = [tenant for site in platform.sites for tenant in site.tenants if tenant.name == name]
    on_clusters = (
        Section(f"on cluster {tenant.cluster.name}", tuple(_tenant(tenant))) for tenant in tenants
    )
    return (Section(f"team {name}", tuple(_team(team, platform))), *on_clusters)


def _team(team: Team, platform: Platform) -> Iterator[Value]:
    yield Value("state", team.state, team.at / "state")
    yield from _states(team)
    if not team.stage.enforces:
        display = f"{team.stage.word}, not isolated until {team.stage.until}; {team.stage.reason}"
        yield Value("stage", display, team.stage.at / "stage")
    yield Value("contact", team.contact, team.at / "contact")
    yield Value("cost center", team.cost_center or "none", team.at / "costCenter")
    yield _owners(team, platform)
    yield Value("folder", team.folder, team.at / "folder")
    yield Value("cohort", team.cohort or "none", team.at / "cohort")
    yield Value("largest job", counted(team.largest_job, "node"), team.at / "largestJob" / "nodes")
    for role, groups in team.groups.items():
        yield Value(f"groups with role {role}", ", ".join(groups), team.at / "groups" / role)
    if debuggers := team.debuggers:
        display = f"{', '.join(debuggers.groups)} until {debuggers.until}; {debuggers.reason}"
        yield Value("debuggers", display, debuggers.at)
    for account in team.accounts:
        owner = f"made by {account.owner}" if account.owner else "made by Trainyard"
        yield Value(f"service account {account.name}", f"role {account.role}, {owner}", account.at)


def _states(team: Team) -> Iterator[Value]:
    """Yield the state on each cluster where it is another than the team's."""
    for cluster, state in team.states.items():
        if state.word != team.state:
            yield Value(f"state on {cluster}", state.word, state.at)


def _owners(team: Team, platform: Platform) -> Value:
    """Return who approves changes of the team: its own owners, or the platform's."""
    if team.owners:
        return Value("owners", ", ".join(team.owners), team.at / "owners")
    settings = platform.settings
    owners = ", ".join(settings.owners.platform) or "none"
    return Value("owners", owners, settings.at / "owners" / "platform")


def _tenant(tenant: Tenant) -> Iterator[Value]:
    yield from _queues(tenant)
    if tenant.team.metrics and tenant.cluster.monitoring:
        scraped = f"port {tenant.team.metrics}, scraped from {tenant.cluster.monitoring.namespace}"
        yield Value("metrics of jobs", scraped, tenant.team.at / "metrics")
    if mpi_jobs := tenant.team.mpi_jobs.get(tenant.cluster.name):
        yield Value("MPIJobs", f"until {mpi_jobs.until}", mpi_jobs.at / "until")
    for space in tenant.spaces:
        yield from _space(space)
    dns = tenant.cluster.dns
    yield Value("name servers", dns.display, dns.at)
    for egress in tenant.cluster.egress:
        targets = ", ".join((*egress.cidrs, *egress.namespaces))
        ports = ", ".join(map(str, egress.ports))
        yield Value(
            f"egress {egress.name}", f"{egress.source} to {targets}, TCP {ports}", egress.at
        )


def _grant(space: Space, grant: Grant, own: str) -> Iterator[Value]:
    """Yield the values of a runtime that a namespace may run."""
    launch = grant.launch
    size = f"jobs up to {grant.size}{_parts(grant)}"
    own_class = launch.hardware.node_class
    state = next(each.state for each in space.queues if each.node_class == own_class)
    if not state.is_open:
        size = f"no jobs: {state.display}"
    yield Value(f"{own}runtime {launch.name}", size, space.team.at / "runtimes")
    if about := launch.runtime.description:
        yield Value(f"{own}use of {launch.name}", about, launch.runtime.at / "description")
    yield Value(f"{own}ranks of {launch.name}", _ranks(launch), launch.runtime.at / "ranks")
    if launch.runtime.small_launcher:
        kept = launch.hardware.launcher
        size = f"a pod without ranks, {format_cpu(kept.cpu)} CPUs, {format_bytes(kept.memory)}"
        yield Value(f"{own}launcher of {launch.name}", size, launch.runtime.at / "launcherPod")


def _parts(grant: Grant) -> str:
    """Return the GPUs of the largest job, or its cores on a share of a node without GPUs."""
    if grant.gpus:
        return f", {counted(grant.gpus, 'GPU')}"
    if grant.launch.part != 1:
        return f", {counted(grant.nodes * grant.launch.cores, 'core')}"
    return ""


def _space(space: Space) -> Iterator[Value]:
    """Yield the values of a namespace; those of a further one begin with its name."""
    own = f"{space.profile.name}: " if space.profile.name else ""
    yield Value(f"{own}namespace", space.namespace)
    if space.ids:
        ids = f"{space.ids.range}, SELinux level {space.ids.level}"
        yield Value(f"{own}user ids", ids, space.ids.at)
    for grant in space.grants:
        yield from _grant(space, grant, own)
    if default := space.default_launch:
        yield Value(f"{own}default runtime", default.name, space.team.at / "defaultRuntime")
    priorities = ", ".join(priority.name for priority in space.priorities) or "none"
    yield Value(f"{own}priorities", priorities, space.profile.at / "priorities")
    for network in space.networks:
        numbers = f"{network.fabric.link.segment} {network.display}, {network.addresses.subnet}"
        yield Value(f"{own}network {network.name}", numbers, network.addresses.allocation.at)
    yield from _storage(space, own)


def _storage(space: Space, own: str) -> Iterator[Value]:
    """Yield the storage of a namespace."""
    for claim in space.claims:
        size = format_amount("storage", claim.request.size)
        yield Value(f"{own}storage {claim.name}", f"{size} at {claim.mount_path}", claim.request.at)
    for allowed in space.allowances:
        size = format_amount("storage", allowed.size)
        yield Value(
            f"{own}claims of {allowed.storage.name}",
            f"an admin may claim {size} in all",
            allowed.at,
        )
    for bucket in space.buckets:
        mount = f"bucket {bucket.bucket} at {bucket.mount_path}"
        yield Value(
            f"{own}storage {bucket.name}", mount, space.profile.at / "storage" / bucket.name
        )


def _ranks(launch: Launch) -> str:
    """Return how many ranks a node starts, and what each is bound to."""
    where = "node" if launch.part == 1 else "pod"
    if not launch.runtime.launcher.mpi:
        return (
            f"{launch.gpus} per {where}, not bound"
            if launch.gpus
            else "as the job states, not bound"
        )
    if launch.runtime.binds_to_sockets:
        return f"{launch.ranks} per {where}, each bound to a socket"
    if not launch.runtime.binds:
        return f"{launch.ranks} per {where}, not bound"
    cores, threads = (
        counted(launch.cores_per_rank, "core"),
        counted(launch.threads_per_rank, "thread"),
    )
    return f"{launch.ranks} per {where}, each bound to {cores} ({threads})"


def _pool_state(pool: Pool) -> Iterator[Value]:
    """Yield the state of a pool where it stops queues."""
    if not pool.stated.is_open:
        yield Value(f"{pool.name}: state", pool.state, pool.stated.at)


def _rails(pool: Pool) -> str:
    """Return the rails of a node by their NUMA node; a pod can't choose among them."""
    sides = Counter(rail.nic.numa for rail in pool.rails)
    counts = [counted(len(pool.rails), "rail")]
    for side, count in sorted(sides.items()):
        if side >= 0:
            counts.append(f"{count} on NUMA node {side}")
    return f"{', '.join(counts)}; a pod has one virtual function of each, not pinned"


def _term(quota: Quota, term: Term) -> Value:
    """Return the last day of a quota, what the team has afterwards, and the reason."""
    after = f"then {quota.display(term.nodes)}; {term.reason}"
    return Value(f"{quota.pool}: until", f"{term.until}, {after}", quota.at / "until")


def _further_names(tenant: Tenant, queue: Queue) -> Iterator[Value]:
    """Yield the further names of a queue in each namespace that has some."""
    for space in tenant.spaces:
        if names := space.further_names(queue):
            what = f"queue {queue.node_class} in {space.namespace}"
            yield Value(what, f"also called {', '.join(names)}", space.profile.at / "queues")


def _unlabelled(tenant: Tenant) -> str:
    if own := tenant.spaces[0].default_class:
        return f"in queue {own}"
    return "in no queue" if tenant.team.stage.observes else "refused"


def _queues(tenant: Tenant) -> Iterator[Value]:
    yield Value(
        "jobs without a queue's label", _unlabelled(tenant), tenant.team.at / "defaultQueue"
    )
    for queue in tenant.queues:
        yield Value(f"queue {queue.node_class}", f"uses ClusterQueue {queue.name}")
        yield from _further_names(tenant, queue)
        for flavor in queue.flavors:
            quota, pool = flavor.quota, flavor.pool.name
            yield from _pool_state(flavor.pool)
            yield Value(f"{pool}: own", quota.display(quota.nodes), quota.at / quota.unit)
            if quota.withheld:
                lacking = f"{quota.display(quota.withheld)} until nodes are back from maintenance"
                yield Value(f"{pool}: lacks", lacking, flavor.pool.at / "maintenance")
            if quota.term:
                yield _term(quota, quota.term)
            yield Value(
                f"{pool}: borrows at most", quota.display(quota.borrow), quota.at / "borrow"
            )
            yield Value(f"{pool}: lends at most", quota.display(quota.lend), quota.at / "lend")
            if flavor.pool.rails:
                yield Value(
                    f"{pool}: rails", _rails(flavor.pool), flavor.pool.hardware.stated("nics")
                )
            for resource in flavor.resources(queue.covered):
                yield Value(f"{pool}: own {resource.name}", resource.nodes, flavor.pool.hardware.at)
