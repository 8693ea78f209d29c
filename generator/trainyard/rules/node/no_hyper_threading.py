"""Find nodes of x86 whose profile has one thread for each core."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.hardware import ARM64, PRESETS, Hardware
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

RULE = Rule(
    id="node/no-hyper-threading",
    severity=Severity.WARNING,
    summary="The cores of a node are its cores, not its threads.",
    why="""
        Processors of Intel and AMD have two threads for each core by default. Then two ranks are
        bound to one core, and wait for each other. If these are the threads of one socket, half of
        each node is never used.
    """,
    fix="""
        Compare with `lscpu` on such a node: CPU(s) is `threads`, and cores per socket times sockets
        is `cores`. If Thread(s) per core is 1, waive this.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        if each.cores == each.threads and each.architecture != ARM64 and not _is_known(each):
            message = (
                f"a `{each.name}` has {counted(each.cores, 'core')} and as many threads: one for "
                "each core"
            )
            yield RULE.at(each.edited("cpu", "cores"), message)


def _is_known(each: Hardware) -> bool:
    """Return whether a preset says so, with a source."""
    return each.stated("cpu", "threads").file.startswith(PRESETS)


CHECK = Check(RULE, find)
