"""Shares of a node: GPUs, cores and virtual functions that can't be divided."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from generator.diagnostics import Diagnostic, Note, Rule, Severity
from generator.model.platform import Platform
from generator.model.pool import Pool
from generator.model.quantity import counted
from generator.model.queue import Flavor
from generator.model.runtime import Runtime
from generator.model.team import Quota
from generator.model.tenant import Tenant
from generator.rules._check import Check
from generator.rules._walk import held, shares

UNEVEN_SHARE = Rule(
    id="capacity/uneven-share",
    severity=Severity.ERROR,
    summary="Shares of a node are equal pods with cores of their own, and those of a pool fill whole nodes.",
    why=(
        "Quota is promised and no node gives it: jobs wait for ever, as `allows to fit only <n> out of <n> pod(s). ...;"
        ' excluded: resource "cpu": <n>` (seen with Kueue 0.19.2 where a share had taken the node). Cores that'
        " two pods share are neither's, and a launcher without a part of its own starts nothing."
    ),
    fix=(
        "Give shares that add up to nodes, such as 4, 2 and 2 of 8 GPUs, two at least where MPI runs: its launcher is a"
        " pod too. Set the system's `cpu` so that the rest can be divided; a whole node is `nodes: 1`."
    ),
)
TOO_FEW_VIRTUAL_FUNCTIONS = Rule(
    id="fabric/too-few-virtual-functions",
    severity=Severity.ERROR,
    summary="A share of a node is worth a virtual function of each rail for every pod of a job.",
    why=(
        "Each pod takes one of each rail, and Kueue counts them like any resource: no job of the team is ever admitted,"
        " `insufficient quota for <resource> ... > maximum capacity`."
    ),
    fix="Give a port as many `virtualFunctions` as the node has GPUs.",
)


def uneven_share(platform: Platform) -> Iterator[Diagnostic]:
    """Look at each share by itself, at the pods of each runtime that could use it, then at all of a pool together."""
    for tenant, flavor in _shares(platform):
        quota, hardware = flavor.quota, flavor.pool.hardware
        owns = f"team {tenant.name} owns {counted(quota.own, 'GPU')} of pool `{quota.pool}`"
        if not hardware.gpus:
            yield UNEVEN_SHARE.at(quota.at / "gpus", f"{owns}, whose nodes have none")
        elif quota.own >= hardware.gpus:
            yield UNEVEN_SHARE.at(quota.at / "gpus", f"{owns}, whose nodes have {hardware.gpus}: that is no share")
        else:
            yield from _uneven_pods(flavor, _runtimes(platform, tenant, flavor), owns)
    for site in platform.sites:
        owners = shares(site)
        for pool in site.cluster.pools:
            yield from _unfilled(pool, owners[pool.name])


def _unfilled(pool: Pool, owners: list[tuple[Tenant, Quota]]) -> Iterator[Diagnostic]:
    """Put the shares of a pool on nodes, the largest first; Kueue fills the fullest node that has room, too."""
    parts = sorted((quota.own for _, quota in owners if quota.is_share), reverse=True)
    left = pool.promised - sum(quota.own for _, quota in owners if not quota.is_share)
    nodes: list[int] = []
    for part in parts:
        room = min((i for i, free in enumerate(nodes) if free >= part), key=lambda i: nodes[i], default=-1)
        if room < 0:
            nodes.append(pool.hardware.gpus)
        nodes[room] -= part
    if 0 < sum(parts) <= left * pool.hardware.gpus and len(nodes) > left:
        message = (
            f"shares of {', '.join(map(str, parts))} GPUs need {counted(len(nodes), 'node')} of pool `{pool.name}`,"
            f" which has {left} beside whole ones"
        )
        notes = [
            Note(f"team {tenant.name} owns {counted(quota.own, 'GPU')}", quota.at / "gpus")
            for tenant, quota in owners
            if quota.is_share
        ]
        yield UNEVEN_SHARE.at(pool.at / "nodes", message, notes=notes)


def _shares(platform: Platform) -> Iterator[tuple[Tenant, Flavor]]:
    for site in platform.sites:
        for tenant in site.tenants:
            yield from ((tenant, flavor) for flavor in held(tenant) if flavor.quota.is_share)


def _runtimes(platform: Platform, tenant: Tenant, flavor: Flavor) -> list[Runtime]:
    """Return the team's runtimes that run on the nodes of the share."""
    listed = (each for each in platform.runtimes if each.name in tenant.team.runtimes)
    return [each for each in listed if flavor.pool.hardware.name in each.hardware]


def _uneven_pods(flavor: Flavor, runtimes: list[Runtime], owns: str) -> Iterator[Diagnostic]:
    quota, at = flavor.quota, flavor.quota.at
    for runtime in runtimes:
        if problem := _problem(flavor, runtime.launcher.smallest_job):
            notes = [Note(f"runtime `{runtime.name}` is started by {runtime.launcher.name}", runtime.at / "launcher")]
            yield UNEVEN_SHARE.at(at / "gpus", f"{owns}: {problem}", notes=notes)
    parts = {quota.own // runtime.launcher.smallest_job for runtime in runtimes} - {0}
    if parts and all(quota.borrowed % part for part in parts):
        pods = " or ".join(map(str, sorted(parts)))
        yield UNEVEN_SHARE.at(at / "borrow", f"{owns} and borrows {quota.borrowed}, but a pod has {pods} of them")


def _problem(flavor: Flavor, pods: int) -> str:
    """Return why a share is not that many pods; empty when it is."""
    own, hardware = flavor.quota.own, flavor.pool.hardware
    part, rest = divmod(own, pods)
    cores = Fraction(hardware.promised_cores * own, hardware.gpus * pods)
    if rest:
        return f"a job has {counted(pods, 'pod')} at least, which can't have equal parts"
    if cores.denominator > 1:
        gives = f"a node gives {counted(hardware.promised_cores, 'core')} for {counted(hardware.gpus, 'GPU')}"
        return f"a pod of {counted(part, 'GPU')} would not have whole cores, as {gives}"
    return ""


def too_few_virtual_functions(platform: Platform) -> Iterator[Diagnostic]:
    """Compare the virtual functions that a share is worth with the pods of each runtime's smallest job."""
    for tenant, flavor in _shares(platform):
        quota, functions = flavor.quota, flavor.pool.hardware.virtual_functions
        if not flavor.pool.rails:
            continue
        for runtime in _runtimes(platform, tenant, flavor):
            pods, worth = runtime.launcher.smallest_job, int(quota.nodes * functions)
            if runtime.uses_rdma and quota.own % pods == 0 and worth < pods:
                message = (
                    f"a share of {counted(quota.own, 'GPU')} is worth {worth} of the"
                    f" {counted(functions, 'virtual function')} of a rail, and the smallest job with runtime"
                    f" `{runtime.name}` takes {pods}"
                )
                at = flavor.pool.hardware.at / "nic" / "virtualFunctions"
                yield TOO_FEW_VIRTUAL_FUNCTIONS.at(
                    at, message, notes=[Note(f"the share of team {tenant.name}", quota.at / "gpus")]
                )


CHECKS = (
    Check(UNEVEN_SHARE, uneven_share, each=("runtimes",)),
    Check(TOO_FEW_VIRTUAL_FUNCTIONS, too_few_virtual_functions),
)
