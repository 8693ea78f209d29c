"""Look at what a pod of ranks has left on each kind of node and share: a core a rank, and its shared memory."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import format_bytes, format_cpu
from trainyard.rules._check import Check

RULE = Rule(
    id="capacity/no-room-for-initializer",
    severity=Severity.ERROR,
    summary="What the steps of a runtime take of a node leaves its ranks cores and memory.",
    why="""
        Kueue counts steps and ranks together from the beginning, so each pod of ranks asks for that
        much less. Where less than nothing is left it makes no Workload of the job, which waits
        without a word; its log says `resources.requests[cpu]: Invalid value: ... must be greater
        than or equal to 0` (seen with Kueue 0.19.2).
    """,
    fix="Lower `cpu` or `memory` under `initialize`, or run it on larger nodes or shares.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    known = {
        launch.name: launch for site in platform.sites for launch in site.launches if launch.volume
    }
    for _, launch in sorted(known.items()):
        cpu, memory = launch.per_node["cpu"], launch.per_node["memory"]
        least = (launch.gpus or 1) * 1000 * launch.hardware.threads // launch.hardware.cores
        if cpu < least or memory <= launch.runtime.shared_memory * launch.part:
            steps = launch.runtime.initializers
            taken = (
                f"{format_cpu(sum(each.cpu for each in steps))} cpu and "
                f"{_bytes(sum(each.memory for each in steps))}"
            )
            message = (
                f"the steps of runtime `{launch.runtime.name}` take {taken} of a "
                f"`{launch.nodes}`, which leaves"
            )
            message += f" its ranks {format_cpu(cpu)} cpu and {_bytes(memory)}"
            yield RULE.at(launch.runtime.at / "initialize", message)


def _bytes(number: int) -> str:
    return format_bytes(number) if number > 0 else "no memory"


CHECK = Check(RULE, find)
