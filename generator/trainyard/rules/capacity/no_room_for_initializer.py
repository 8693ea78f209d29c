"""Compare what steps leave of a node with the cores and the shared memory of its ranks."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model.launch import Launch
from trainyard.model.platform import Platform
from trainyard.model.quantity import format_bytes, format_cpu
from trainyard.rules._check import Check

RULE = Rule(
    id="capacity/no-room-for-initializer",
    severity=Severity.ERROR,
    summary="""
        The `initialize` steps of a runtime, and what its nodes keep for a small launcher, leave its
        ranks enough cores and memory of a node.
    """,
    why="""
        If they leave less than nothing, Kueue creates no Workload and the job waits without a
        message. Only Kueue's log has `resources.requests[cpu]: Invalid value: ... must be greater
        than or equal to 0` (seen with Kueue 0.19.2). Kueue counts these pods and the ranks together
        from the start, so each pod of ranks requests only what they leave.
    """,
    fix="""
        Lower `cpu` or `memory` under `initialize`, or the hardware's `launcher`, or run the
        runtime on larger nodes or shares.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    launches = (launch for site in platform.sites for launch in site.launches)
    known = {launch.name: launch for launch in launches if launch.helpers.cpu}
    for _, launch in sorted(known.items()):
        if not _has_room(launch):
            cpu, memory = launch.per_node["cpu"], launch.per_node["memory"]
            message = (
                f"{_taken(launch)} of a `{launch.nodes}`, which leaves the ranks of runtime "
                f"`{launch.runtime.name}` {format_cpu(cpu)} cpu and {_display(memory)}"
            )
            yield RULE.at(_place(launch), message)


def _has_room(launch: Launch) -> bool:
    """Return whether the ranks have a core each, and more memory than they share."""
    shared_memory = launch.runtime.shared_memory * launch.part
    has_cores = launch.per_node["cpu"] >= _core_for_each_rank(launch)
    return has_cores and launch.per_node["memory"] > shared_memory


def _core_for_each_rank(launch: Launch) -> int:
    """Return the millicores of one core for each GPU, at least of one core."""
    return (launch.gpus or 1) * 1000 * launch.hardware.threads // launch.hardware.cores


def _taken(launch: Launch) -> str:
    """Return what takes a part of the node, and how much, for a message."""
    steps, small = launch.runtime.initializers, launch.hardware.launcher.cpu
    pods = "the steps and a small launcher" if steps and small else "the steps"
    taken = f"{format_cpu(launch.helpers.cpu)} cpu and {_display(launch.helpers.memory)}"
    return f"{pods} take {taken}" if steps else f"a small launcher takes {taken}"


def _place(launch: Launch) -> Pointer:
    if launch.runtime.initializers:
        return launch.runtime.at / "initialize"
    return launch.hardware.stated("launcher")


def _display(memory: int) -> str:
    return format_bytes(memory) if memory > 0 else "no memory"


CHECK = Check(RULE, find)
