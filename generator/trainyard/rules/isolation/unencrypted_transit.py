"""Look at the network of each runtime that a team with encryption may use; one pod talks to nobody."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.launch import Launch
from trainyard.model.platform import Platform, Site
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/unencrypted-transit",
    severity=Severity.ERROR,
    summary="""
        A team with `encryptionInTransit: true` has runtimes whose ranks talk over an encrypted
        network only.
    """,
    why="""
        RDMA over InfiniBand and RoCE passes the kernel by, so nothing there encrypts it; sockets
        are in the clear too unless the pod network encrypts between nodes. ssh only starts the
        ranks: gradients never pass through it.
    """,
    fix="""
        List runtimes with `fabric: tcp` or `isolated`, on clusters with `networks: {encrypted:
        true}`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for tenant in (each for each in site.tenants if each.team.encrypts_transit):
            grants = (grant for space in tenant.spaces for grant in space.grants if grant.nodes > 1)
            for launch in {grant.launch.runtime.name: grant.launch for grant in grants}.values():
                if launch.rails or not site.cluster.encrypts_pods:
                    yield _in_the_clear(site, tenant, launch)


def _in_the_clear(site: Site, tenant: Tenant, launch: Launch) -> Diagnostic:
    runtime, fabric = launch.runtime, launch.fabric
    how = "over sockets, and the pod network does not encrypt"
    notes = [Note("said of the pod network", site.cluster.at / "networks" / "encrypted")]
    if fabric and launch.rails:
        how = f"by RDMA over {fabric.link.name}, which nothing encrypts"
        notes = [
            Note("said of the runtime", runtime.at / "fabric"),
            Note("the fabric", fabric.at.key()),
        ]
    message = (
        f"team {tenant.name} wants encryption, but ranks of `{runtime.name}` on {site.name} "
        f"talk {how}"
    )
    return RULE.at(tenant.team.at / "runtimes", message, notes=notes)


CHECK = Check(RULE, find)
