"""Look for an entry for each team and fabric that its pools are on, with what separates teams there."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import held

RULE = Rule(
    id="fabric/missing-allocation",
    severity=Severity.ERROR,
    summary="""
        A team with quota on a pool with a fabric holds a partition or VLAN and addresses of that
        fabric.
    """,
    why="""
        Without them the team gets no network attachment: Kueue admits its jobs, and their pods stay
        in ContainerCreating because Multus does not find the network.
    """,
    fix="""
        Restore its line in profiles/allocations.yaml, or write one with numbers that no team ever
        had.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for tenant in site.tenants:
            for flavor in held(tenant):
                fabric = flavor.pool.fabric
                if fabric and (site.name, fabric.name, tenant.name) not in platform.allocations:
                    message = (
                        f"team {tenant.name} has quota on fabric `{fabric.name}` of {site.name},"
                        f" but no {fabric.link.segment} there"
                    )
                    where = platform.allocations_at / site.name / fabric.name
                    notes = [Note("its entry is missing here", where)]
                    cause = (
                        f"teams with quota on fabric `{fabric.name}` of {site.name} hold no "
                        f"{fabric.link.segment} there"
                    )
                    yield RULE.at(flavor.quota.at.key(), message, notes=notes, cause=cause)


CHECK = Check(RULE, find, every=("allocations.yaml",))
