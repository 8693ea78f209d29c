"""Find queues with one pool in a topology and another without one."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules.scheduling._flavors import neighbours

RULE = Rule(
    id="scheduling/mixed-topology",
    severity=Severity.WARNING,
    summary="All pools of a queue have a topology, or none does.",
    why="""
        Jobs may wait while nodes are free: Kueue considers each pod for one of the two kinds of
        flavor only, and a fabric gives its pools a topology. Ranks find `Flavor "<pool>" does
        not support TopologyAwareScheduling` (seen with Kueue 0.19.2). The steps of a job, which
        name no level, may run on the other pool alone, and wait for it
        (sigs.k8s.io/kueue:pkg/cache/scheduler/tas_flavorassigner.go).
    """,
    fix="""
        Set `topology` of the pool without one, give the pools to two teams, or waive this if no
        runtime of the team has `initialize`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for one, two, queue in neighbours(platform):
        placed, without = (one, two) if one.topology else (two, one)
        if placed.topology and not without.topology:
            message = (
                f"queue {queue} has pool `{placed.name}` in topology `{placed.topology.name}` "
                f"and pool `{without.name}` without one"
            )
            notes = [Note("the pool with a topology", placed.at.key())]
            yield RULE.at(without.at.key(), message, notes=notes)


CHECK = Check(RULE, find)
