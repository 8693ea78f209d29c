"""Find pools whose nodes have rails but which have no fabric."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check

RULE = Rule(
    id="fabric/rails-without-fabric",
    severity=Severity.ERROR,
    summary="A pool whose nodes have rails names the fabric to which these are connected.",
    why="""
        Kueue admits the jobs, and their pods stay Pending (Insufficient openshift.io/...): quota
        and runtimes count virtual functions, but without a fabric none is created and no network is
        attached.
    """,
    fix="Set `fabric` of the pool, or use a hardware profile whose ports are not rails.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for pool in site.cluster.pools:
            if pool.hardware.rails and pool.fabric is None:
                rails = counted(len(pool.hardware.rails), "rail")
                message = (
                    f"pool `{pool.name}` has no `fabric`, but a `{pool.hardware.name}` has {rails}"
                )
                yield RULE.at(pool.at.key(), message)


CHECK = Check(RULE, find)
