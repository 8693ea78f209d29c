"""Find pools on a fabric beside others without one."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules.scheduling._flavors import neighbours

RULE = Rule(
    id="scheduling/mixed-topology",
    severity=Severity.WARNING,
    summary="The pools of one queue are all on a fabric, or none is.",
    why="""
        A fabric gives its flavor a topology. In a queue that has both, Kueue takes each pod either
        way only: ranks find `Flavor "<pool>" does not support TopologyAwareScheduling` (seen with
        Kueue 0.19.2), and the steps of a job, which name no level, may run on the other pool alone,
        and wait for it (sigs.k8s.io/kueue:pkg/cache/scheduler/tas_flavorassigner.go).
    """,
    fix="Give the pools to two teams, or waive this where no runtime of the team has `initialize`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for one, two, queue in neighbours(platform):
        with_fabric, without = (one, two) if one.fabric else (two, one)
        if with_fabric.fabric and not without.fabric:
            message = (
                f"queue {queue} has pool `{with_fabric.name}` on fabric "
                f"`{with_fabric.fabric.name}` and pool `{without.name}` on none"
            )
            notes = [Note("on a fabric", with_fabric.at / "fabric")]
            yield RULE.at(without.at.key(), message, notes=notes)


CHECK = Check(RULE, find)
