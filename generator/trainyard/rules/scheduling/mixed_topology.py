"""Find queues with one pool on a fabric and another without one."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules.scheduling._flavors import neighbours

RULE = Rule(
    id="scheduling/mixed-topology",
    severity=Severity.WARNING,
    summary="All pools of a queue use a fabric, or none does.",
    why="""
        Jobs may wait while nodes are free: a fabric gives its flavor a topology, and Kueue
        considers each pod for one of the two kinds of flavor only. Ranks find `Flavor "<pool>" does
        not support TopologyAwareScheduling` (seen with Kueue 0.19.2). The steps of a job, which
        name no level, may run on the other pool alone, and wait for it
        (sigs.k8s.io/kueue:pkg/cache/scheduler/tas_flavorassigner.go).
    """,
    fix="Give the pools to two teams, or waive this if no runtime of the team has `initialize`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for one, two, queue in neighbours(platform):
        with_fabric, without = (one, two) if one.fabric else (two, one)
        if with_fabric.fabric and not without.fabric:
            message = (
                f"queue {queue} has pool `{with_fabric.name}` on fabric "
                f"`{with_fabric.fabric.name}` and pool `{without.name}` without a fabric"
            )
            notes = [Note("the pool with a fabric", with_fabric.at / "fabric")]
            yield RULE.at(without.at.key(), message, notes=notes)


CHECK = Check(RULE, find)
