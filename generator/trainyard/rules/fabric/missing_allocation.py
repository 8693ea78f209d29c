"""Find teams that have quota on a fabric but no allocation of it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="fabric/missing-allocation",
    severity=Severity.ERROR,
    summary="""
        A team with quota on a pool with rails has an allocation of that fabric: a partition or
        VLAN, and addresses.
    """,
    why="""
        Kueue admits the team's jobs, and their pods stay in ContainerCreating, because Multus does
        not find the network: without an allocation the team gets no network attachment.
    """,
    fix="""
        Restore the team's line in profiles/allocations.yaml. For a team that never had one, run
        `trainyard add allocation TEAM --cluster CLUSTER`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for tenant in site.tenants:
            for flavor in tenant.flavors:
                fabric = flavor.pool.rail_fabric
                if fabric and (site.name, fabric.name, tenant.name) not in platform.allocations:
                    message = (
                        f"team {tenant.name} has quota on fabric `{fabric.name}` of {site.name},"
                        f" but no {fabric.link.segment} there"
                    )
                    entries = platform.allocations_at / site.name / fabric.name
                    notes = [Note("its entry is missing here", entries)]
                    cause = (
                        f"teams with quota on fabric `{fabric.name}` of {site.name} have no "
                        f"{fabric.link.segment} there"
                    )
                    yield RULE.at(flavor.quota.at.key(), message, notes=notes, cause=cause)


CHECK = Check(RULE, find, every=("allocations.yaml",))
