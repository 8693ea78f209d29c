"""Measures that a regulation demands: nothing on a cluster refuses what is missing, only the auditor finds it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.compliance import Compliance
from trainyard.model.launch import Launch
from trainyard.model.platform import Platform, Site
from trainyard.model.pool import Pool
from trainyard.model.team import Quota, Team
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check
from trainyard.rules._walk import active, shares

AUDIT_LOG = "AuditLog/"
"""Kind of what the owner of the audit log is declared for in a cluster's `external`."""

_NOBODY_REFUSES = "Nothing on the cluster refuses it, and the evidence page says that the control is answered."

POOL_NOT_DEDICATED = Rule(
    id="isolation/pool-not-dedicated",
    severity=Severity.ERROR,
    summary="Where a regulation asks for dedicated nodes, only teams under it have quota on their pools, unshared.",
    why=(
        "Jobs of others run on the same nodes (seen with Kueue 0.19.2), at the same time or right after, and find what"
        f" is left on their disks and in their memory. {_NOBODY_REFUSES}"
    ),
    fix="Give these teams a pool of their own with `taint` on its hardware, `lend: none` and no `borrow`.",
)
UNENCRYPTED_STORAGE = Rule(
    id="isolation/unencrypted-storage",
    severity=Severity.ERROR,
    summary="Where a regulation asks for it, every claim and bucket of a team is on storage that is encrypted at rest.",
    why=(
        "A disk that leaves the computer centre can be read, and a name like `encrypted-cephfs` proves nothing:"
        f" encryption is in the storage's own settings. {_NOBODY_REFUSES}"
    ),
    fix="Ask its owner, then say `encrypted: true` for that storage in the cluster's profile, or use another.",
)
UNSTATED_TRANSIT = Rule(
    id="isolation/unstated-transit",
    severity=Severity.ERROR,
    summary="Where a regulation asks about it, a team says whether its data must be encrypted between nodes.",
    why=(
        "RDMA can't be encrypted, so somebody has to decide between its speed and encryption; left open, the fastest"
        f" way is taken, in the clear. {_NOBODY_REFUSES}"
    ),
    fix="Set `encryptionInTransit` of the team to true, or to false and keep the reason with your risk assessment.",
)
UNENCRYPTED_TRANSIT = Rule(
    id="isolation/unencrypted-transit",
    severity=Severity.ERROR,
    summary="A team with `encryptionInTransit: true` has runtimes whose ranks talk over an encrypted network only.",
    why=(
        "RDMA over InfiniBand and RoCE passes the kernel by, so nothing there encrypts it; sockets are in the clear too"
        " unless the pod network encrypts between nodes. ssh only starts the ranks: gradients never pass through it."
    ),
    fix="List runtimes with `fabric: tcp` or `isolated`, on clusters with `networks: {encrypted: true}`.",
)
NOT_FIPS = Rule(
    id="isolation/not-fips",
    severity=Severity.ERROR,
    summary="Where a regulation asks for FIPS mode, the nodes of the team's clusters run in it.",
    why=(
        "Kernel, sshd and libraries use what algorithms they like, validated or not; FIPS mode is chosen when a node is"
        f" installed, so it can't be switched on later. {_NOBODY_REFUSES}"
    ),
    fix="Give the team quota on a cluster with `fips: true`, or say so of this one if it is.",
)
AUDIT_NOT_DECLARED = Rule(
    id="isolation/audit-not-declared",
    severity=Severity.ERROR,
    summary="Where a regulation asks for an audit log, somebody is named who keeps it.",
    why=(
        "The API server records nothing that the regulation asks for until it is given the audit policy, or the audit"
        " profile on OpenShift. Its log stays on the control plane until it is rotated away, unless somebody forwards"
        f" it. {_NOBODY_REFUSES}"
    ),
    fix="Declare who keeps it in `external`, e.g. `AuditLog/siem: security team`.",
)
SHARED_ACCOUNT = Rule(
    id="access/shared-account",
    severity=Severity.ERROR,
    summary="Where a regulation asks for access control, only people have roles in the team, each by his own name.",
    why=(
        "The API server knows the service account, not who used it: whoever has its token, or starts a pod as it,"
        " submits and deletes jobs in its name (seen with Kubernetes 1.36.3), and the audit log names nobody else."
        f" {_NOBODY_REFUSES}"
    ),
    fix="Take the account away; a pipeline can submit with the token of the person who started it.",
)


def pool_not_dedicated(platform: Platform) -> Iterator[Diagnostic]:
    """Look at each pool that a team with dedicated nodes is on."""
    for site in platform.sites:
        holders = shares(site)
        for pool in site.cluster.pools:
            regulations = (_asking(tenant.team, "dedicatedNodes") for tenant, _ in holders[pool.name])
            for compliance in [each for each in regulations if each][:1]:
                yield from _shared(pool, compliance, holders[pool.name])


def _shared(pool: Pool, compliance: Compliance, holders: list[tuple[Tenant, Quota]]) -> Iterator[Diagnostic]:
    """Look at the taint, at who else is there, and at loans."""
    dedicated = f"pool `{pool.name}` is for teams under {compliance.name} only"
    if not pool.hardware.taint:
        notes = [Note("no `taint` here", pool.hardware.at)]
        yield POOL_NOT_DEDICATED.at(pool.at, f"{dedicated}, but nothing keeps other pods off its nodes", notes=notes)
    for tenant, quota in holders:
        notes = [Note("the pool", pool.at)]
        if tenant.team.compliance != compliance:
            yield POOL_NOT_DEDICATED.at(quota.at, f"{dedicated}, but team {tenant.name} has quota on it", notes=notes)
        elif quota.lent or quota.borrowed:
            what = f"lends {quota.told(quota.lent)}" if quota.lent else f"borrows {quota.told(quota.borrowed)}"
            yield POOL_NOT_DEDICATED.at(quota.at, f"{dedicated}, but team {tenant.name} {what} of it", notes=notes)


def unencrypted_storage(platform: Platform) -> Iterator[Diagnostic]:
    """Look up each claim and bucket in the cluster's storage."""
    for site, tenant, compliance in _under(platform, "encryptedStorage"):
        plain = {storage.name: storage.at for storage in site.cluster.storage if not storage.encrypted}
        for space in tenant.spaces:
            asked = [(each, space.profile.at / "storage" / each) for each in space.profile.storage]
            asked += [(each.storage.name, each.at) for each in space.allowances]
            for name, at in asked:
                if name in plain:
                    message = f"team {tenant.name} is under {compliance.name}, and `{name}` is not said to be encrypted"
                    yield UNENCRYPTED_STORAGE.at(at, message, notes=[Note(f"on cluster {site.name}", plain[name])])


def unstated_transit(platform: Platform) -> Iterator[Diagnostic]:
    """Find teams that are asked and say nothing."""
    for team in active(platform):
        compliance = _asking(team, "encryptionInTransit")
        if compliance and team.encrypts_transit is None:
            message = f"team {team.name} is under {compliance.name} and does not say `encryptionInTransit`"
            yield UNSTATED_TRANSIT.at(team.at / "compliance", message)


def unencrypted_transit(platform: Platform) -> Iterator[Diagnostic]:
    """Look at the network of each runtime that a team with encryption may use; one pod talks to nobody."""
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
        notes = [Note("said of the runtime", runtime.at / "fabric"), Note("the fabric", fabric.at.key())]
    message = f"team {tenant.name} wants encryption, but ranks of `{runtime.name}` on {site.name} talk {how}"
    return UNENCRYPTED_TRANSIT.at(tenant.team.at / "runtimes", message, notes=notes)


def not_fips(platform: Platform) -> Iterator[Diagnostic]:
    """Look at the mode of each cluster with a team that needs it."""
    for site, tenant, compliance in _under(platform, "fips"):
        if not site.cluster.fips:
            message = f"team {tenant.name} is under {compliance.name}, and cluster {site.name} is not in FIPS mode"
            at = (tenant.team.at / "quota" / site.name).key()
            notes = [Note("the cluster", site.cluster.at / "fips")]
            cause = f"teams are under {compliance.name}, and cluster {site.name} is not in FIPS mode"
            yield NOT_FIPS.at(at, message, notes=notes, cause=cause)


def audit_not_declared(platform: Platform) -> Iterator[Diagnostic]:
    """Look for an owner of the audit log of each cluster with a team that needs one."""
    for site, tenant, compliance in _under(platform, "audit"):
        if not any(each.startswith(AUDIT_LOG) for each in site.cluster.external):
            message = f"team {tenant.name} is under {compliance.name}, and cluster {site.name} names no {AUDIT_LOG}..."
            at = (tenant.team.at / "quota" / site.name).key()
            notes = [Note("to be said here", site.cluster.at / "external")]
            cause = f"teams are under {compliance.name}, and cluster {site.name} names no {AUDIT_LOG}..."
            yield AUDIT_NOT_DECLARED.at(at, message, notes=notes, cause=cause)


def shared_account(platform: Platform) -> Iterator[Diagnostic]:
    """Find service accounts with a role in teams whose access is controlled."""
    for team in active(platform):
        if compliance := _asking(team, "accessControl"):
            for account in team.accounts:
                message = f"team {team.name} is under {compliance.name}, and account `{account.name}` is no person"
                yield SHARED_ACCOUNT.at(account.at.key(), message)


def _under(platform: Platform, measure: str) -> Iterator[tuple[Site, Tenant, Compliance]]:
    """Yield each team that a measure is demanded of, on each of its clusters."""
    for site in platform.sites:
        for tenant in site.tenants:
            if compliance := _asking(tenant.team, measure):
                yield site, tenant, compliance


def _asking(team: Team, measure: str) -> Compliance | None:
    """Return the regulation that demands a measure of a team."""
    return team.compliance if team.compliance and team.compliance.asks(measure) else None


CHECKS = (
    Check(POOL_NOT_DEDICATED, pool_not_dedicated, each=("compliance",)),
    Check(UNENCRYPTED_STORAGE, unencrypted_storage),
    Check(UNSTATED_TRANSIT, unstated_transit),
    Check(UNENCRYPTED_TRANSIT, unencrypted_transit),
    Check(NOT_FIPS, not_fips),
    Check(AUDIT_NOT_DECLARED, audit_not_declared),
    Check(SHARED_ACCOUNT, shared_account),
)
