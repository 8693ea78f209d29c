"""Compare the sockets, cores and threads of a node."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

RULE = Rule(
    id="node/impossible-cpu",
    severity=Severity.ERROR,
    summary="A node has as many cores in each socket, and one or two threads for each core.",
    why="""
        Quota and the cores that each rank is bound to are wrong: both are computed from threads and
        cores, and Kubernetes counts threads as cpu.
    """,
    fix="""
        Take the numbers of the whole node from `lscpu`: CPU(s) is `threads`, and cores per socket
        times sockets is `cores`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        cores = f"a `{each.name}` has {counted(each.cores, 'core')}"
        if each.threads not in {each.cores, 2 * each.cores}:
            message = f"{cores} and {counted(each.threads, 'thread')}"
            yield RULE.at(each.edited("cpu", "threads"), message)
        if each.cores % each.sockets:
            yield RULE.at(
                each.stated("cpu", "sockets"), f"{cores} in {counted(each.sockets, 'socket')}"
            )


CHECK = Check(RULE, find)
