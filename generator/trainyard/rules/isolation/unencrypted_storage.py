"""Find claims and buckets on storage that is not declared to be encrypted."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check
from trainyard.rules._compliance import NOT_ENFORCED, under

RULE = Rule(
    id="isolation/unencrypted-storage",
    severity=Severity.ERROR,
    summary="""
        Where a regulation requires encryption at rest, every claim and bucket of a team is on
        encrypted storage.
    """,
    why=f"""
        A disk that leaves the data centre can be read. A name like `encrypted-cephfs` proves
        nothing: only the storage's own settings show whether it is encrypted. {NOT_ENFORCED}
    """,
    fix="""
        Use a storage with `encrypted: true`. Set it for this storage only after its owner has
        confirmed the encryption.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site, tenant, compliance in under(platform, "encryptedStorage"):
        storages = (each for each in site.cluster.storage if not each.encrypted)
        unencrypted = {storage.name: storage.at for storage in storages}
        for name, at in _requests(tenant):
            if name in unencrypted:
                message = (
                    f"team {tenant.name} is under {compliance.name}, but storage `{name}` does "
                    "not have `encrypted: true`"
                )
                notes = [Note(f"on cluster {site.name}", unencrypted[name])]
                yield RULE.at(at, message, notes=notes)


def _requests(tenant: Tenant) -> Iterator[tuple[str, Pointer]]:
    """Yield each storage that a team's namespaces use or may claim, with its place."""
    for space in tenant.spaces:
        for name in space.profile.storage:
            yield name, space.profile.at / "storage" / name
        for allowance in space.allowances:
            yield allowance.storage.name, allowance.at


CHECK = Check(RULE, find)
