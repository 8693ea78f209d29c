"""Compare the cores that a job gets with its ranks, where the runtime sets no `ranks`."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules.node._shared import bound

RULE = Rule(
    id="node/fewer-cores-than-ranks",
    severity=Severity.ERROR,
    summary="Each rank of a runtime that binds its ranks gets at least one core.",
    why="""
        mpirun refuses to start: `A request was made to bind to that would result in binding more
        processes than cpus` (seen with Open MPI 4.1.4).
    """,
    fix="Lower the hardware's `system.cpu`, or set `binding: none` in the runtime.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime, each in bound(platform):
        ranks = each.gpus or 1
        if not runtime.ranks and each.rank_cores < ranks:
            cores = f"the {counted(each.rank_cores, 'core')} of a `{each.name}`"
            message = f"runtime `{runtime.name}` binds {counted(ranks, 'rank')} to {cores}"
            notes = [Note("the system share keeps the other cores", each.stated("system", "cpu"))]
            yield RULE.at(runtime.at / "binding", message, notes=notes)


CHECK = Check(RULE, find)
