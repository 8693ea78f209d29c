"""Find shares of nodes whose fabric gives all devices of a node to one pod."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._shares import flavors_in_parts, runtimes

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
    for tenant, flavor in flavors_in_parts(platform):
        fabric = flavor.pool.device_fabric
        if not fabric or not fabric.provider.whole_nodes:
            continue
        for runtime in runtimes(platform, tenant, flavor.pool):
            if runtime.uses_rdma:
                message = (
                    f"team {tenant.name} has {flavor.quota.display(flavor.quota.nodes)} of pool "
                    f"`{flavor.pool.name}`, but `{fabric.given}` goes with whole nodes"
                )
                notes = [Note(f"runtime `{runtime.name}` requests it", runtime.at.key())]
                yield RULE.at(flavor.quota.place, message, notes=notes)


CHECK = Check(RULE, find)
