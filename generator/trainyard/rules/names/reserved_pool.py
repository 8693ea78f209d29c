"""Find pools with the name of one of OpenShift's machine pools."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RESERVED_POOLS = frozenset({"control-plane", "master", "worker"})
"""Machine pools that OpenShift creates and owns."""


RULE = Rule(
    id="names/reserved-pool",
    severity=Severity.ERROR,
    summary="No node pool has the name of one of OpenShift's own machine pools.",
    why="""
        Argo CD would overwrite OpenShift's own MachineConfigPool, and the operator would drain and
        reboot every node in it: the pool becomes a MachineConfigPool of the same name.
    """,
    fix="Rename the pool, e.g. after its hardware.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for pool in site.cluster.pools:
            if pool.name in RESERVED_POOLS:
                message = f"a pool cannot be named `{pool.name}`: OpenShift has one"
                yield RULE.at(pool.at.key(), message)


CHECK = Check(RULE, find)
