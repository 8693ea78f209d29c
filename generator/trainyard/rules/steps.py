"""What a job does before and after its ranks: what that needs of namespaces, and of the release."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import format_bytes, format_cpu
from trainyard.model.space import Space
from trainyard.rules._check import Check

VOLUME_WITHOUT_CLAIM = Rule(
    id="runtime/volume-without-claim",
    severity=Severity.ERROR,
    summary="Each namespace that may use a runtime with `initialize` asks for the storage that its steps write to.",
    why=(
        "Steps and ranks share that claim at /workspace. Without it the job is admitted, holds its nodes, and every pod"
        ' of it stays Pending: `persistentvolumeclaim "<claim>" not found` (seen with Kubernetes 1.36.3).'
    ),
    fix="Ask for it in the `storage` of the team, or of the space; a bucket is no claim.",
)
NO_ROOM_FOR_INITIALIZER = Rule(
    id="capacity/no-room-for-initializer",
    severity=Severity.ERROR,
    summary="What the steps of a runtime take of a node leaves its ranks cores and memory.",
    why=(
        "Kueue counts steps and ranks together from the beginning, so each pod of ranks asks for that much less. Where"
        " less than nothing is left it makes no Workload of the job, which waits without a word; its log says"
        " `resources.requests[cpu]: Invalid value: ... must be greater than or equal to 0` (seen with Kueue 0.19.2)."
    ),
    fix="Lower `cpu` or `memory` under `initialize`, or run it on larger nodes or shares.",
)
NO_RETURN_AFTER_STEPS = Rule(
    id="scheduling/no-return-after-steps",
    severity=Severity.WARNING,
    summary="A job with steps that loses its nodes gets others again, on every cluster that has its runtime.",
    why=(
        "When its steps have ended and Kueue takes its nodes away, for a job that goes first or for an owner that comes"
        " back, it waits for ever beside free nodes, and nothing says why: Kueue tries again many times a second, and"
        " the API server refuses each time, `status.admission.podSetAssignments[0].topologyAssignment.slices: Required"
        " value` (seen with Kueue 0.16.2; 0.19.2 takes it back)."
    ),
    fix=(
        "Tell the teams to delete such a job and submit it again, and waive this; or have the job's own command do what"
        " the steps do, and remove `initialize`."
    ),
)


def no_room_for_initializer(platform: Platform) -> Iterator[Diagnostic]:
    """Look at what a pod of ranks has left on each kind of node and share: a core a rank, and its shared memory."""
    known = {launch.name: launch for site in platform.sites for launch in site.launches if launch.volume}
    for _, launch in sorted(known.items()):
        cpu, memory = launch.per_node["cpu"], launch.per_node["memory"]
        least = (launch.gpus or 1) * 1000 * launch.hardware.threads // launch.hardware.cores
        if cpu < least or memory <= launch.runtime.shared_memory * launch.part:
            steps = launch.runtime.initializers
            taken = (
                f"{format_cpu(sum(each.cpu for each in steps))} cpu and {_bytes(sum(each.memory for each in steps))}"
            )
            message = f"the steps of runtime `{launch.runtime.name}` take {taken} of a `{launch.nodes}`, which leaves"
            message += f" its ranks {format_cpu(cpu)} cpu and {_bytes(memory)}"
            yield NO_ROOM_FOR_INITIALIZER.at(launch.runtime.at / "initialize", message)


def _bytes(number: int) -> str:
    return format_bytes(number) if number > 0 else "no memory"


def volume_without_claim(platform: Platform) -> Iterator[Diagnostic]:
    """Look for the claim of each runtime in each namespace that may use it; every cluster where it lacks is told."""
    for site in platform.sites:
        for tenant in site.tenants:
            for space in tenant.spaces:
                yield from _missing(space)


def _missing(space: Space) -> Iterator[Diagnostic]:
    claims = {claim.name for claim in space.claims}
    wanted = {launch.runtime.name: launch for launch in space.launches if launch.volume not in {"", *claims}}
    for name, launch in sorted(wanted.items()):
        message = (
            f"namespace `{space.namespace}` on {space.cluster.name} has no claim `{launch.volume}`,"
            f" which runtime `{name}` mounts"
        )
        notes = [Note("said here", launch.runtime.at / "initialize" / "volume")]
        cause = f"namespaces have no claim `{launch.volume}`, which runtime `{name}` mounts"
        yield VOLUME_WITHOUT_CLAIM.at(space.profile.at / "storage", message, notes=notes, cause=cause)


def no_return_after_steps(platform: Platform) -> Iterator[Diagnostic]:
    """Find runtimes with steps on nodes with a topology, where a step without pods left has no place in it."""
    for runtime in platform.runtimes:
        launches = [(site, launch) for site in platform.sites for launch in site.launches if launch.runtime == runtime]
        if sites := list(dict.fromkeys(site.name for site, launch in launches if not launch.returns_after_steps)):
            message = f"jobs of runtime `{runtime.name}` that are evicted after their steps never start again on"
            yield NO_RETURN_AFTER_STEPS.at(runtime.at / "initialize", f"{message} {', '.join(sites)}")


CHECKS = (
    Check(VOLUME_WITHOUT_CLAIM, volume_without_claim, each=("storage", "spaces")),
    Check(NO_ROOM_FOR_INITIALIZER, no_room_for_initializer),
    Check(NO_RETURN_AFTER_STEPS, no_return_after_steps),
)
