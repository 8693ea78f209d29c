"""Compare a runtime's `ranks` with the cpu of a pod, on each node type and share of a node."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.launch import Launch
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/ranks-exceed-node",
    severity=Severity.ERROR,
    summary="The `ranks` of a runtime fit on the allocatable cpu of each of its nodes.",
    why="""
        mpirun refuses to start bound ranks with less than one core each. With unbound ranks and
        less than a hardware thread each, the admission policy refuses every job that leaves
        `numProcPerNode` open.
    """,
    fix="Lower `ranks`, or lower the hardware's `system.cpu`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for launch in _launches(platform):
        runtime = launch.runtime
        problem, hint = _problem(launch)
        if problem:
            message = (
                f"runtime `{runtime.name}` sets {counted(runtime.ranks, 'rank')} per node, "
                f"but {problem}"
            )
            notes = [Note("the cpu of the system share", launch.hardware.stated("system", "cpu"))]
            yield RULE.at(runtime.at / "ranks", message, hint=hint, notes=notes)


def _launches(platform: Platform) -> list[Launch]:
    """Return each launch of an MPI runtime that sets `ranks`, once, sorted by name."""
    known: dict[str, Launch] = {}
    for site in platform.sites:
        for launch in site.launches:
            if launch.runtime.ranks and launch.runtime.launcher.mpi:
                known[launch.name] = launch
    return [known[name] for name in sorted(known)]


def _problem(launch: Launch) -> tuple[str, str]:
    """Return why a pod can't start its part of the ranks, and a hint; both empty when it can."""
    part, most = launch.part, max(0, launch.most_ranks)
    ranks = launch.runtime.ranks * part
    if ranks.denominator > 1:
        problem = f"a pod of `{launch.nodes}` is {part.numerator}/{part.denominator} of a node"
        return problem, f"Set `ranks` to a multiple of {part.denominator}."
    if ranks > most:
        cpu = counted(most, "core" if launch.runtime.binds else "cpu")
        problem = f"a pod of `{launch.nodes}` has {cpu} for {counted(int(ranks), 'rank')}"
        return problem, f"Set `ranks` to {most // part} or less{_unbound(launch, ranks)}."
    return "", ""


def _unbound(launch: Launch, ranks: Fraction) -> str:
    """Return that ranks which are not bound would fit; empty when they would not."""
    threads = launch.per_node["cpu"] // 1000
    if not launch.runtime.binds or ranks > threads:
        return ""
    return f", or `binding: none`: ranks that are not bound may be {threads // launch.part}"


CHECK = Check(RULE, find)
