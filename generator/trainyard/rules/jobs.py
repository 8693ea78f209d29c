"""The jobs that a team may submit against what its quota, pools and runtimes give."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted, format_bytes
from trainyard.model.runtime import Runtime
from trainyard.model.space import Space
from trainyard.model.team import Quota, Team, TeamSpace
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check
from trainyard.rules._walk import hardware, held, holdings

JOB_LARGER_THAN_REACH = Rule(
    id="capacity/job-larger-than-reach",
    severity=Severity.ERROR,
    summary="A largest job is not larger than the team's own nodes and what it may borrow of one pool.",
    why=(
        "The admission policy knows what the team reaches, so the API server refuses every job of that size, whatever"
        " the profile says: `spec.trainer.numNodes is <n> ...; with ... this team may ask for <n> to <n> nodes` (seen"
        " with Kubernetes 1.36.3)."
    ),
    fix="Lower `largestJob`, or give the team more `nodes` or `borrow`.",
)
JOB_LARGER_THAN_POOL = Rule(
    id="capacity/job-larger-than-pool",
    severity=Severity.ERROR,
    summary="A team's largest job is not larger than what the pool promises.",
    why=(
        "The job is submitted and waits for ever: `insufficient quota for <resource> in flavor <pool>, previously"
        " considered podsets requests (0) + current podset request (<n>) > maximum capacity (<n>)` (seen with Kueue"
        " 0.19.2). The message stands on its Workload only; `describe trainjob` shows nothing."
    ),
    fix="Lower `largestJob` and `borrow`, or enlarge the pool.",
)
JOB_LARGER_THAN_RUNTIME_CAP = Rule(
    id="capacity/job-larger-than-runtime-cap",
    severity=Severity.WARNING,
    summary="Some runtime of a team admits its largest job.",
    why=(
        "The admission policy takes the smaller of both numbers, so the API server refuses every job of that size:"
        " `spec.trainer.numNodes is <n> ...; with ... this team may ask for <n> to <n> nodes` (seen with Kubernetes"
        " 1.36.3)."
    ),
    fix="Lower `largestJob`, or raise `maxNodes` of a runtime that was tested at that size.",
)
SMALLEST_JOB_DOES_NOT_FIT = Rule(
    id="capacity/smallest-job-does-not-fit",
    severity=Severity.ERROR,
    summary="A team reaches enough of some pool for the smallest job of a runtime that it lists.",
    why=(
        "The launcher of an MPI job takes a whole node too: Trainer makes a launcher and one node even of"
        " `numNodes: 1` (seen with Trainer 2.3.0), and Kueue never admits the pair: `... current podset request (<n>) >"
        " maximum capacity (<n>)` (seen with Kueue 0.19.2). So the admission policy refuses what a team can't have."
    ),
    fix="Give the team two nodes, or one that is its own and one to borrow; torchrun needs one only.",
)
QUOTA_WITHOUT_RUNTIME = Rule(
    id="capacity/quota-without-runtime",
    severity=Severity.ERROR,
    summary="Some runtime of a team runs on the nodes of each pool that it has quota of.",
    why=(
        "The team can launch nothing there, as the admission policy knows only its runtimes (seen with Kubernetes"
        " 1.36.3: it refuses every job in that queue): the nodes are idle, or always lent, and look taken to everybody"
        " else."
    ),
    fix="List a runtime for those nodes, add the hardware to one that was tested on it, or take the quota away.",
)
SHARED_MEMORY_EXCEEDS_NODE = Rule(
    id="capacity/shared-memory-exceeds-node",
    severity=Severity.ERROR,
    summary="A runtime's shared memory is smaller than what a node of its hardware gives to a pod.",
    why=(
        "Shared memory counts against the pod's memory limit: ranks that fill it are OOMKilled, and the job with them."
    ),
    fix="Lower `sharedMemory`; a quarter of the node's memory is plenty for NCCL and data loaders.",
)


def job_larger_than_reach(platform: Platform) -> Iterator[Diagnostic]:
    """Compare the largest job of each namespace with the pool that the team reaches most of."""
    for team, flavors in holdings(platform):
        quota = max((flavor.quota for flavor in flavors), key=lambda each: each.reach)
        smallest = _smallest(platform, team)
        for space in team.spaces:
            # A share of a node is told of as a part of one: its job may be called as large as the whole.
            reach = ceil(quota.reach) if quota.is_share else quota.reach
            if reach < space.largest_job and (quota.is_share or smallest <= reach):
                message = f"{_submits(team, space)}, but reaches {_reached(quota)}"
                notes = [Note("the most that it has of any pool", quota.at)]
                yield JOB_LARGER_THAN_REACH.at(space.largest_job_at, message, notes=notes)


def _submits(team: Team, space: TeamSpace) -> str:
    return f"team {team.name} may submit a job of {counted(space.largest_job, 'node')}"


def _reached(quota: Quota) -> str:
    """Return what a job of a team can have of a pool, and of what it consists."""
    reach = quota.told(quota.own + quota.borrowed)
    return f"{reach} of pool `{quota.pool}` ({quota.own} own, {quota.borrowed} borrowed)"


def _smallest(platform: Platform, team: Team) -> int:
    """Return the nodes of the smallest job that a team can submit with any of its runtimes."""
    return min(each.launcher.smallest_job for each in platform.runtimes if each.name in team.runtimes)


def job_larger_than_pool(platform: Platform) -> Iterator[Diagnostic]:
    """Compare the largest job with the largest pool, unless the team's reach ends before."""
    for team, flavors in holdings(platform):
        for space in team.spaces:
            reachable = [flavor.pool for flavor in flavors if flavor.quota.reach >= space.largest_job]
            largest = max(reachable, key=lambda each: each.promised, default=None)
            if largest is not None and largest.promised < space.largest_job:
                message = f"{_submits(team, space)}, but pool `{largest.name}` promises {largest.promised}"
                what = f"{counted(largest.nodes, 'node')} less {largest.reserve} in reserve"
                yield JOB_LARGER_THAN_POOL.at(space.largest_job_at, message, notes=[Note(what, largest.at / "nodes")])


def job_larger_than_runtime_cap(platform: Platform) -> Iterator[Diagnostic]:
    """Compare the largest job with the highest cap among the team's runtimes."""
    known = {runtime.name: runtime for runtime in platform.runtimes}
    for team, _ in holdings(platform):
        caps = [known[name] for name in team.runtimes]
        highest = max(runtime.max_nodes for runtime in caps)
        for space in team.spaces:
            if highest < space.largest_job:
                message = f"{_submits(team, space)}, but its runtimes take {highest}"
                notes = [Note(f"{each.name} takes {each.max_nodes}", each.at / "maxNodes") for each in caps]
                cause = f"teams may submit larger jobs than their runtimes {', '.join(team.runtimes)} take: {highest}"
                yield JOB_LARGER_THAN_RUNTIME_CAP.at(space.largest_job_at, message, notes=notes, cause=cause)


def smallest_job_does_not_fit(platform: Platform) -> Iterator[Diagnostic]:
    """Look at each runtime by itself, then for namespaces without any, and runtimes that a team has nowhere."""
    for runtime in platform.runtimes:
        if runtime.max_nodes < runtime.launcher.smallest_job:
            message = (
                f"runtime `{runtime.name}` takes {counted(runtime.max_nodes, 'node')} at most, and its smallest job"
                f" has {runtime.launcher.smallest_job}"
            )
            hint = f"Set `maxNodes` to {runtime.launcher.smallest_job} or more."
            yield SMALLEST_JOB_DOES_NOT_FIT.at(runtime.at / "maxNodes", message, hint=hint)
    tenants = [tenant for site in platform.sites for tenant in site.tenants]
    offered = {
        (each.name, launch.runtime.name) for each in tenants for space in each.spaces for launch in space.launches
    }
    for tenant in tenants:
        runnable = _runnable(platform, tenant)
        nowhere = [(runtime, quota) for runtime, quota in runnable if (tenant.name, runtime.name) not in offered]
        for space in tenant.spaces:
            yield from _unfit(tenant, space, nowhere if space.grants else runnable)


def _runnable(platform: Platform, tenant: Tenant) -> list[tuple[Runtime, Quota]]:
    """Return the runtimes that a team could use on whole nodes of a pool, were there enough of them."""
    listed = [each for each in platform.runtimes if each.name in tenant.team.runtimes]
    return [
        (runtime, flavor.quota)
        for runtime in listed
        for flavor in held(tenant)
        if flavor.pool.hardware.name in runtime.hardware
        and not flavor.quota.is_share
        and runtime.max_nodes >= runtime.launcher.smallest_job
    ]


def _unfit(tenant: Tenant, space: Space, runnable: list[tuple[Runtime, Quota]]) -> Iterator[Diagnostic]:
    for runtime, quota in sorted(runnable, key=lambda each: each[1].reach)[-1:]:
        smallest = runtime.launcher.smallest_job
        pods = f"{counted(smallest, 'node')}: the launcher's and one more"
        takes = f"the smallest with runtime `{runtime.name}` takes {pods}"
        if quota.reach < smallest:
            message = f"team {tenant.name} reaches {_reached(quota)}, and of its jobs {takes}"
            yield SMALLEST_JOB_DOES_NOT_FIT.at(quota.place, message)
        else:
            most = f"jobs in `{space.namespace}` have {counted(space.profile.largest_job, 'node')} at most"
            hint = f"Set `largestJob: {{nodes: {smallest}}}` or more; team {tenant.name} reaches {_reached(quota)}."
            yield SMALLEST_JOB_DOES_NOT_FIT.at(space.profile.largest_job_at, f"{most}, and {takes}", hint=hint)


def quota_without_runtime(platform: Platform) -> Iterator[Diagnostic]:
    """Look for a runtime on each pool that a team has quota of, whatever its size."""
    known = {runtime.name: runtime for runtime in platform.runtimes}
    for team, flavors in holdings(platform):
        runs_on = {hardware for name in team.runtimes for hardware in known[name].hardware}
        for quota, each in ((flavor.quota, flavor.pool.hardware) for flavor in flavors):
            if each.name not in runs_on:
                message = (
                    f"team {team.name} has quota of pool `{quota.pool}`, and none of its runtimes runs on a"
                    f" `{each.name}`"
                )
                notes = [Note("its runtimes", team.at / "runtimes")]
                cause = f"teams have quota of pool `{quota.pool}`, and none of their runtimes runs on a `{each.name}`"
                yield QUOTA_WITHOUT_RUNTIME.at(quota.at.key(), message, notes=notes, cause=cause)


def shared_memory_exceeds_node(platform: Platform) -> Iterator[Diagnostic]:
    """Compare each runtime with the memory of a whole node's pod."""
    for runtime in platform.runtimes:
        for each in hardware(platform):
            memory = each.total.memory - each.system.memory
            if each.name in runtime.hardware and 0 < memory <= runtime.shared_memory:
                message = (
                    f"{format_bytes(runtime.shared_memory)} of shared memory leave nothing"
                    f" of the {format_bytes(memory)} that a pod has on a `{each.name}`"
                )
                notes = [Note("the node's memory less the system's share", each.stated("memory"))]
                yield SHARED_MEMORY_EXCEEDS_NODE.at(runtime.at / "sharedMemory", message, notes=notes)


CHECKS = (
    Check(JOB_LARGER_THAN_REACH, job_larger_than_reach, each=("quota", "runtimes")),
    Check(JOB_LARGER_THAN_POOL, job_larger_than_pool, each=("quota", "runtimes")),
    Check(JOB_LARGER_THAN_RUNTIME_CAP, job_larger_than_runtime_cap, each=("quota", "runtimes")),
    Check(SMALLEST_JOB_DOES_NOT_FIT, smallest_job_does_not_fit, each=("quota", "runtimes")),
    Check(QUOTA_WITHOUT_RUNTIME, quota_without_runtime, each=("runtimes",)),
    Check(SHARED_MEMORY_EXCEEDS_NODE, shared_memory_exceeds_node),
)
