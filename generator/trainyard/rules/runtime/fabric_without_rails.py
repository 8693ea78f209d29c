"""Compare what each runtime says of the fabric with the ports of its hardware."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules import _iterate
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/fabric-without-rails",
    severity=Severity.ERROR,
    summary="A runtime that says `gpudirect` or `rdma` runs on hardware with rails.",
    why="""
        No virtual function is asked for, and NCCL and UCX fall back to sockets without a word: jobs
        are slow.
    """,
    fix="""
        Remove `fabric`: ranks then take the fastest that each node has. Or take the hardware out of
        the runtime.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        for each in _iterate.hardware(platform):
            if (
                runtime.fabric
                and runtime.uses_rdma
                and each.name in runtime.hardware
                and not each.rails
            ):
                message = (
                    f"runtime `{runtime.name}` wants {runtime.fabric}, but `{each.name}` "
                    "nodes have no rails"
                )
                notes = [Note("no port here has the role `rail`", each.at / "nics")]
                yield RULE.at(runtime.at / "fabric", message, notes=notes)


CHECK = Check(RULE, find)
