"""Compare the ranks of a pod with its cpu, on each kind of node and share of one."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.launch import Launch
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/ranks-exceed-node",
    severity=Severity.ERROR,
    summary="The ranks that a runtime states fit on the allocatable cpu of each of its nodes.",
    why="""
        Ranks that are bound to cores need one each, or mpirun refuses to start; unbound ranks need
        a hardware thread each, or the admission policy refuses every job that leaves
        `numProcPerNode` open.
    """,
    fix="Lower `ranks`, or lower the system's cpu.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    known = {
        launch.name: launch
        for site in platform.sites
        for launch in site.launches
        if launch.runtime.ranks
    }
    for _, launch in sorted(known.items()):
        runtime = launch.runtime
        if runtime.launcher.mpi and (problem := _problem(launch)):
            what, hint = problem
            notes = [Note("what the system keeps", launch.hardware.stated("system", "cpu"))]
            message = (
                f"runtime `{runtime.name}` states {counted(runtime.ranks, 'rank')} per node, "
                f"but {what}"
            )
            yield RULE.at(runtime.at / "ranks", message, hint=hint, notes=notes)


def _problem(launch: Launch) -> tuple[str, str] | None:
    """Return why a pod can't start its part of the ranks, and what it can start."""
    part, most = launch.part, max(0, launch.most_ranks)
    ranks = launch.runtime.ranks * part
    if ranks.denominator > 1:
        what = f"a pod of `{launch.nodes}` is {part.numerator}/{part.denominator} of a node"
        return what, f"Set `ranks` to a multiple of {part.denominator}."
    if ranks > most:
        fit = counted(most, "core" if launch.runtime.binds else "cpu")
        what = f"a pod of `{launch.nodes}` has {fit} for {counted(int(ranks), 'rank')}"
        return what, f"Set `ranks` to {most // part} or less."
    return None


CHECK = Check(RULE, find)
