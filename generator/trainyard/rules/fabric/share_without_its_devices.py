"""Find shares of nodes whose fabric gives all devices of a node to one pod."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.fabric import DeviceFabric
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.quantity import counted
from trainyard.model.runtime import Runtime
from trainyard.model.team import Quota
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check
from trainyard.rules._shares import pools, runtimes

RULE = Rule(
    id="fabric/share-without-its-devices",
    severity=Severity.ERROR,
    summary="""
        Teams own whole nodes of a pool whose fabric has devices for whole nodes only, or their
        runtimes use sockets.
    """,
    why="""
        Jobs on a share are slower than over TCP, or find no path: the device plugin gives a pod
        any devices of the node, which may be on the other side of it than the pod's GPUs.
    """,
    fix="Write the quota in `nodes`, or list a runtime with `fabric: tcp` for the team.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for pool, owners in pools(platform):
        fabric = pool.device_fabric
        if fabric and fabric.provider.whole_nodes:
            shares = [(tenant, quota) for tenant, quota in owners if quota.is_share]
            yield from _on(platform, pool, fabric, shares)


def _on(
    platform: Platform, pool: Pool, fabric: DeviceFabric, shares: Sequence[tuple[Tenant, Quota]]
) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        users = [each for each in shares if runtime in runtimes(platform, each[0], pool)]
        yield from _refused(pool, fabric, runtime, users)


def _refused(
    pool: Pool, fabric: DeviceFabric, runtime: Runtime, users: Sequence[tuple[Tenant, Quota]]
) -> Iterator[Diagnostic]:
    """Yield the finding of a runtime on a pool: one mistake, however many teams have shares."""
    if not users or not runtime.uses_rdma:
        return
    (tenant, quota), *others = users
    message = (
        f"team {tenant.name} has {quota.display(quota.nodes)} of pool `{pool.name}`, but "
        f"`{fabric.given}` goes with whole nodes"
    )
    notes = [Note(f"runtime `{runtime.name}` requests it", runtime.at.key())]
    if others:
        also = f"the shares of {counted(len(others), 'other team')} are like this, as here"
        notes.append(Note(also, others[0][1].place))
    yield RULE.at(quota.place, message, notes=notes)


CHECK = Check(RULE, find)
