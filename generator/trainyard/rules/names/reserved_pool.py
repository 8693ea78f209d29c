"""Find pools with names of OpenShift's."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RESERVED_POOLS = frozenset({"control-plane", "master", "worker"})
"""Pools of machines that OpenShift makes and owns."""


RULE = Rule(
    id="names/reserved-pool",
    severity=Severity.ERROR,
    summary="No node pool is called like one of OpenShift's own machine pools.",
    why="""
        The pool becomes a MachineConfigPool of that name: Argo CD would overwrite the platform's
        own, and the operator would drain and reboot every node in it.
    """,
    fix="Rename the pool, e.g. after its hardware.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for pool in site.cluster.pools:
            if pool.name in RESERVED_POOLS:
                yield RULE.at(
                    pool.at.key(), f"a pool can't be called `{pool.name}`: OpenShift has one"
                )


CHECK = Check(RULE, find)
