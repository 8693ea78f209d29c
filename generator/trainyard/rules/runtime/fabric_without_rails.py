"""Find runtimes that require rails on hardware without any."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware_of

RULE = Rule(
    id="runtime/fabric-without-rails",
    severity=Severity.ERROR,
    summary="A runtime with `fabric: gpudirect` or `fabric: rdma` runs on hardware with rails.",
    why="""
        Jobs are slow: their pods request no virtual function, and NCCL and UCX silently fall back
        to sockets.
    """,
    fix="""
        Remove `fabric`, so that ranks use the fastest transport of each node; or remove the
        hardware from the runtime.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    on_devices = _on_devices(platform)
    for runtime in platform.runtimes:
        if not runtime.fabric or not runtime.uses_rdma:
            continue
        for node_type in hardware_of(platform, runtime):
            if not node_type.rails and node_type.name not in on_devices:
                message = (
                    f"runtime `{runtime.name}` sets `fabric: {runtime.fabric}`, but "
                    f"`{node_type.name}` nodes have no rails"
                )
                notes = [Note("no port here has the role `rail`", node_type.at / "nics")]
                yield RULE.at(runtime.at / "fabric", message, notes=notes)


def _on_devices(platform: Platform) -> set[str]:
    """Return the hardware of pools on a fabric whose devices others advertise."""
    pools = chain.from_iterable(site.cluster.pools for site in platform.sites)
    return {pool.hardware.name for pool in pools if pool.device_fabric}


CHECK = Check(RULE, find)
