"""Find nodes whose threads are not a multiple of their cores."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

RULE = Rule(
    id="node/threads-below-cores",
    severity=Severity.ERROR,
    summary="A node's hardware threads are a multiple of its cores.",
    why="""
        Quota and the cores that each rank is bound to are wrong: both are computed from threads and
        cores, and Kubernetes counts threads as cpu.
    """,
    fix="""
        Take both numbers from `lscpu`: CPU(s) is `threads`, and cores per socket times sockets is
        `cores`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for node_type in hardware(platform):
        if node_type.threads % node_type.cores:
            message = (
                f"a `{node_type.name}` has {counted(node_type.cores, 'core')} and "
                f"{counted(node_type.threads, 'thread')}"
            )
            yield RULE.at(node_type.at / "cpu" / "threads", message)


CHECK = Check(RULE, find)
