"""Look up each claim and bucket in the cluster's storage."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._compliance import NOT_ENFORCED, under

RULE = Rule(
    id="isolation/unencrypted-storage",
    severity=Severity.ERROR,
    summary="""
        Where a regulation asks for it, every claim and bucket of a team is on storage that is
        encrypted at rest.
    """,
    why=f"""
        A disk that leaves the computer centre can be read, and a name like `encrypted-cephfs`
        proves nothing: encryption is in the storage's own settings. {NOT_ENFORCED}
    """,
    fix="""
        Ask its owner, then say `encrypted: true` for that storage in the cluster's profile, or use
        another.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site, tenant, compliance in under(platform, "encryptedStorage"):
        plain = {
            storage.name: storage.at for storage in site.cluster.storage if not storage.encrypted
        }
        for space in tenant.spaces:
            asked = [(each, space.profile.at / "storage" / each) for each in space.profile.storage]
            asked += [(each.storage.name, each.at) for each in space.allowances]
            for name, at in asked:
                if name in plain:
                    message = (
                        f"team {tenant.name} is under {compliance.name}, and `{name}` is not "
                        "said to be encrypted"
                    )
                    yield RULE.at(at, message, notes=[Note(f"on cluster {site.name}", plain[name])])


CHECK = Check(RULE, find)
