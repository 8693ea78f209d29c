"""Find pools on a fabric whose hardware does not say how many of its devices a node has."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="fabric/uncounted-devices",
    severity=Severity.ERROR,
    summary="""
        The hardware of a pool has the number of the devices that its fabric gives to pods: runtimes
        and quota follow from it, never from a job.
    """,
    why="""
        Jobs run over TCP without a message, at a fraction of the speed: their pods request no
        device, and no queue has one.
    """,
    fix="""
        Write the resource and its number under `devices` of the hardware profile, as `kubectl get
        node NODE -o jsonpath='{.status.allocatable}'` shows it.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for pool in site.cluster.pools:
            fabric = pool.device_fabric
            if fabric and 0 in fabric.counted(pool.hardware).values():
                message = (
                    f"pool `{pool.name}` is on fabric `{fabric.name}`, but a "
                    f"`{pool.hardware.name}` states no number of `{fabric.devices}`"
                )
                place = pool.hardware.stated("devices")
                notes = [Note("the number belongs here", place)]
                yield RULE.at(pool.at / "fabric", message, notes=notes)


CHECK = Check(RULE, find)
