"""Look at each share by itself, and at the pods of each runtime that could use it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.model.queue import Flavor
from trainyard.model.runtime import Runtime
from trainyard.rules._check import Check
from trainyard.rules._shares import flavors_in_parts, runtimes

RULE = Rule(
    id="capacity/uneven-share",
    severity=Severity.ERROR,
    summary="Shares of a node are equal pods with cores of their own.",
    why="""
        The cores that two pods share are neither's: both run slower than either would alone. A
        launcher without a part of its own starts nothing.
    """,
    fix="""
        Give 2, 4 or 6 of 8 GPUs, two at least where MPI runs: its launcher is a pod too. Set the
        system's `cpu` so that the rest can be divided; a whole node is `nodes: 1`, in a pool of
        whole nodes.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for tenant, flavor in flavors_in_parts(platform):
        quota, hardware = flavor.quota, flavor.pool.hardware
        owns = f"team {tenant.name} owns {counted(quota.gpus, 'GPU')} of pool `{quota.pool}`"
        if not hardware.gpus:
            yield RULE.at(quota.at / "gpus", f"{owns}, whose nodes have none")
        elif quota.gpus >= hardware.gpus:
            yield RULE.at(
                quota.at / "gpus", f"{owns}, whose nodes have {hardware.gpus}: that is no share"
            )
        else:
            yield from _uneven_pods(flavor, runtimes(platform, tenant, flavor.pool), owns)


def _uneven_pods(flavor: Flavor, runtimes: list[Runtime], owns: str) -> Iterator[Diagnostic]:
    quota, at = flavor.quota, flavor.quota.at
    for runtime in runtimes:
        if problem := _problem(flavor, runtime.launcher.smallest_job):
            notes = [
                Note(
                    f"runtime `{runtime.name}` is started by {runtime.launcher.name}",
                    runtime.at / "launcher",
                )
            ]
            yield RULE.at(at / "gpus", f"{owns}: {problem}", notes=notes)
    parts = {quota.gpus // runtime.launcher.smallest_job for runtime in runtimes} - {0}
    borrow = quota.units(quota.borrow)
    if parts and all(borrow % part for part in parts):
        pods = " or ".join(map(str, sorted(parts)))
        yield RULE.at(at / "borrow", f"{owns} and borrows {borrow}, but a pod has {pods} of them")


def _problem(flavor: Flavor, pods: int) -> str:
    """Return why a share is not that many pods; empty when it is."""
    gpus, hardware = flavor.quota.gpus, flavor.pool.hardware
    part, rest = divmod(gpus, pods)
    cores = Fraction(hardware.promised_cores * gpus, hardware.gpus * pods)
    if rest:
        return f"a job has {counted(pods, 'pod')} at least, which can't have equal parts"
    if cores.denominator > 1:
        gives = (
            f"a node gives {counted(hardware.promised_cores, 'core')} for "
            f"{counted(hardware.gpus, 'GPU')}"
        )
        return f"a pod of {counted(part, 'GPU')} would not have whole cores, as {gives}"
    return ""


CHECK = Check(RULE, find, each=("runtimes",))
