"""Find runtimes whose ranks would communicate unencrypted in teams that require encryption."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.launch import Launch
from trainyard.model.platform import Platform, Site
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/unencrypted-transit",
    severity=Severity.ERROR,
    summary="""
        The runtimes of a team with `encryptionInTransit: true` communicate only over encrypted
        networks.
    """,
    why="""
        Gradients are sent unencrypted between nodes. RDMA over InfiniBand and RoCE bypasses the
        kernel, so nothing encrypts it; sockets are encrypted only if the pod network encrypts
        between nodes. ssh only starts the ranks: gradients never pass through it.
    """,
    fix="""
        List runtimes with `fabric: tcp` or `isolated`, on clusters with `networks: {encrypted:
        true}`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for tenant in site.tenants:
            if tenant.team.encrypts_transit:
                for launch in _distributed(tenant):
                    if launch.rdma or not site.cluster.encrypts_pods:
                        yield _unencrypted(site, tenant, launch)


def _distributed(tenant: Tenant) -> Iterable[Launch]:
    """Return a launch of each runtime with which a team may use several nodes."""
    grants = (grant for space in tenant.spaces for grant in space.grants if grant.nodes > 1)
    return {grant.launch.runtime.name: grant.launch for grant in grants}.values()


def _unencrypted(site: Site, tenant: Tenant, launch: Launch) -> Diagnostic:
    runtime, fabric = launch.runtime, launch.rdma
    network = "over sockets, and the pod network does not encrypt"
    notes = [Note("`encrypted` of the pod network", site.cluster.at / "networks" / "encrypted")]
    if fabric:
        network = f"by RDMA over {fabric.provider.name}, which nothing encrypts"
        notes = [
            Note("`fabric` of the runtime", runtime.at / "fabric"),
            Note("the fabric", fabric.at.key()),
        ]
    message = (
        f"team {tenant.name} requires encryption, but ranks of `{runtime.name}` on {site.name} "
        f"communicate {network}"
    )
    return RULE.at(tenant.team.at / "runtimes", message, notes=notes)


CHECK = Check(RULE, find)
