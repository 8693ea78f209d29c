"""Compare what steps leave of a node with the cores and the shared memory of its ranks."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.launch import Launch
from trainyard.model.platform import Platform
from trainyard.model.quantity import format_bytes, format_cpu
from trainyard.rules._check import Check

RULE = Rule(
    id="capacity/no-room-for-initializer",
    severity=Severity.ERROR,
    summary="""
        The `initialize` steps of a runtime leave its ranks enough cores and memory of a node.
    """,
    why="""
        If the steps leave less than nothing, Kueue creates no Workload and the job waits without a
        message. Only Kueue's log has `resources.requests[cpu]: Invalid value: ... must be greater
        than or equal to 0` (seen with Kueue 0.19.2). Kueue counts steps and ranks together from the
        start, so each pod of ranks requests only what the steps leave.
    """,
    fix="Lower `cpu` or `memory` under `initialize`, or run the runtime on larger nodes or shares.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    launches = (launch for site in platform.sites for launch in site.launches)
    known = {launch.name: launch for launch in launches if launch.volume}
    for _, launch in sorted(known.items()):
        cpu, memory = launch.per_node["cpu"], launch.per_node["memory"]
        shared_memory = launch.runtime.shared_memory * launch.part
        if cpu < _core_for_each_rank(launch) or memory <= shared_memory:
            message = (
                f"the steps of runtime `{launch.runtime.name}` take {_steps(launch)} of a "
                f"`{launch.nodes}`, which leaves its ranks {format_cpu(cpu)} cpu and "
                f"{_display(memory)}"
            )
            yield RULE.at(launch.runtime.at / "initialize", message)


def _core_for_each_rank(launch: Launch) -> int:
    """Return the millicores of one core for each GPU, at least of one core."""
    return (launch.gpus or 1) * 1000 * launch.hardware.threads // launch.hardware.cores


def _steps(launch: Launch) -> str:
    """Return what all steps together take, for a message."""
    steps = launch.runtime.initializers
    cpu = sum(each.cpu for each in steps)
    memory = sum(each.memory for each in steps)
    return f"{format_cpu(cpu)} cpu and {_display(memory)}"


def _display(memory: int) -> str:
    return format_bytes(memory) if memory > 0 else "no memory"


CHECK = Check(RULE, find)
