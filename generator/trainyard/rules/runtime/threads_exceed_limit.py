"""Compare the threads of unbound ranks with the processes that a pod may have."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/threads-exceed-limit",
    severity=Severity.WARNING,
    summary="The ranks of a pod that are not bound may each start a thread for each CPU.",
    why="""
        kubelet limits the processes and threads of a pod (`podPidsLimit`). `OMP_NUM_THREADS` of the
        runtime limits OpenMP. Another library may start a thread for each CPU that a rank may use:
        for an unbound rank, each CPU of the pod. Above the limit, ranks end with `Resource
        temporarily unavailable`.
    """,
    fix="Remove `binding: none`, or lower `ranks`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    launches = {each.name: each for site in platform.sites for each in site.launches}
    for _, launch in sorted(launches.items()):
        runtime, most = launch.runtime, launch.hardware.pod_pids
        cpus = launch.per_node["cpu"] // 1000
        if runtime.binding == "none" and launch.ranks * cpus > most:
            message = (
                f"runtime `{runtime.name}` starts {launch.ranks:,} unbound ranks in a pod of "
                f"`{launch.nodes}` with {cpus:,} CPUs: with a thread for each CPU they are "
                f"{launch.ranks * cpus:,} threads, and {most:,} are allowed"
            )
            yield RULE.at(runtime.at / "binding", message)


CHECK = Check(RULE, find)
