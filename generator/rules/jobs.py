"""The jobs that a team may submit against what its quota, pools and runtimes give."""

from __future__ import annotations

from collections.abc import Iterator

from generator.diagnostics import Diagnostic, Note, Rule, Severity
from generator.model.platform import Platform
from generator.model.quantity import format_bytes
from generator.model.team import Team
from generator.rules._check import Check
from generator.rules._walk import hardware, held, holdings

_WAITS = (
    "The job is submitted and waits for ever: `insufficient quota for nvidia.com/gpu in flavor ..., previously"
    " considered podsets requests (0) + current podset request (16) > maximum capacity (8)` (seen with Kueue 0.19.2)."
    " The message stands on its Workload only; `describe trainjob` shows nothing."
)

JOB_LARGER_THAN_REACH = Rule(
    id="capacity/job-larger-than-reach",
    severity=Severity.ERROR,
    summary="A largest job is not larger than the team's own nodes and what it may borrow of one pool.",
    why=_WAITS,
    fix="Lower `largestJob`, or give the team more `nodes` or `borrow`.",
)
JOB_LARGER_THAN_POOL = Rule(
    id="capacity/job-larger-than-pool",
    severity=Severity.ERROR,
    summary="A team's largest job is not larger than what the pool promises.",
    why=_WAITS,
    fix="Lower `largestJob` and `borrow`, or enlarge the pool.",
)
JOB_LARGER_THAN_RUNTIME_CAP = Rule(
    id="capacity/job-larger-than-runtime-cap",
    severity=Severity.WARNING,
    summary="Some runtime of a team admits its largest job.",
    why="The admission policy takes the smaller of both numbers, so the API server refuses every job of that size.",
    fix="Lower `largestJob`, or raise `maxNodes` of a runtime that was tested at that size.",
)
SMALLEST_JOB_DOES_NOT_FIT = Rule(
    id="capacity/smallest-job-does-not-fit",
    severity=Severity.ERROR,
    summary="A team reaches enough of some pool for the smallest job of a runtime that it lists.",
    why=(
        "The launcher of an MPI job takes a whole node too: Trainer makes a launcher and one node even of"
        " `numNodes: 1` (seen with Trainer 2.3.0), and Kueue never admits the pair."
    ),
    fix="Give the team two nodes, or one that is its own and one to borrow; torchrun needs one only.",
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
            if smallest <= quota.reach < space.largest_job and not quota.is_share:
                message = (
                    f"team {team.name} may submit a job of {space.largest_job} nodes, but reaches {quota.reach}"
                    f" of pool `{quota.pool}` ({quota.nodes} own, {quota.borrow} borrowed)"
                )
                notes = [Note("the most that it has of any pool", quota.at)]
                yield JOB_LARGER_THAN_REACH.at(space.at / "largestJob" / "nodes", message, notes=notes)


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
                message = (
                    f"team {team.name} may submit a job of {space.largest_job} nodes,"
                    f" but pool `{largest.name}` promises {largest.promised}"
                )
                notes = [Note(f"{largest.nodes} nodes less {largest.reserve} in reserve", largest.at / "nodes")]
                yield JOB_LARGER_THAN_POOL.at(space.at / "largestJob" / "nodes", message, notes=notes)


def job_larger_than_runtime_cap(platform: Platform) -> Iterator[Diagnostic]:
    """Compare the largest job with the highest cap among the team's runtimes."""
    known = {runtime.name: runtime for runtime in platform.runtimes}
    for team, _ in holdings(platform):
        caps = [known[name] for name in team.runtimes]
        highest = max(runtime.max_nodes for runtime in caps)
        for space in team.spaces:
            if highest < space.largest_job:
                message = (
                    f"team {team.name} may submit a job of {space.largest_job} nodes, but its runtimes take {highest}"
                )
                notes = [Note(f"{each.name} takes {each.max_nodes}", each.at / "maxNodes") for each in caps]
                yield JOB_LARGER_THAN_RUNTIME_CAP.at(space.at / "largestJob" / "nodes", message, notes=notes)


def smallest_job_does_not_fit(platform: Platform) -> Iterator[Diagnostic]:
    """Look at each cluster: some runtime must fit what the team reaches of some pool that it runs on."""
    for site in platform.sites:
        for tenant in site.tenants:
            grants = tenant.spaces[0].grants
            if grants and all(grant.nodes < grant.launch.runtime.launcher.smallest_job for grant in grants):
                best = max(held(tenant), key=lambda flavor: flavor.quota.reach)
                smallest = min(grant.launch.runtime.launcher.smallest_job for grant in grants)
                message = (
                    f"team {tenant.name} reaches {best.quota.reach} of pool `{best.pool.name}`,"
                    f" and the smallest job takes {smallest} nodes: the launcher's and one more"
                )
                yield SMALLEST_JOB_DOES_NOT_FIT.at(best.quota.at / best.quota.unit, message)


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
                notes = [Note("the node's memory less the system's share", each.at / "memory")]
                yield SHARED_MEMORY_EXCEEDS_NODE.at(runtime.at / "sharedMemory", message, notes=notes)


CHECKS = (
    Check(JOB_LARGER_THAN_REACH, job_larger_than_reach),
    Check(JOB_LARGER_THAN_POOL, job_larger_than_pool),
    Check(JOB_LARGER_THAN_RUNTIME_CAP, job_larger_than_runtime_cap),
    Check(SMALLEST_JOB_DOES_NOT_FIT, smallest_job_does_not_fit),
    Check(SHARED_MEMORY_EXCEEDS_NODE, shared_memory_exceeds_node),
)
