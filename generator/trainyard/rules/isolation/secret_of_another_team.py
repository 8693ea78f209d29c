"""Compare every key with the team's own paths in the same store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.diagnostics import Diagnostic, Rule, Severity, Step
from trainyard.model.lookup import EVERY, lookup, mapping
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._components import Brought, brought, once

RULE = Rule(
    id="isolation/secret-of-another-team",
    severity=Severity.ERROR,
    summary="A component's ExternalSecret reads below the team's own path of a store.",
    why="""
        The store trusts the operator with every path: whatever lies there, another team's keys or
        the platform's, becomes a Secret that anybody of this team may mount.
    """,
    fix="""
        Name keys below `PATH/TEAM/` of a storage entry; let the owner copy there what the team
        needs.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    yield from once(
        found for each in brought(platform, "ExternalSecret") for found in _elsewhere(each)
    )


def _elsewhere(each: Brought) -> Iterator[Diagnostic]:
    for path, store, key in _reads(each.body):
        own = [
            f"{storage.path}/{each.tenant.name}/"
            for storage in each.site.cluster.storage
            if storage.secret_store and storage.secret_store == store
        ]
        if not any(_is_below(key, path) for path in own):
            what = f"reads `{key}`" if key else "takes whatever it finds"
            may = (
                f"team {each.tenant.name} may read below "
                f"{', '.join(f'`{path}`' for path in own) or 'no path of it'}"
            )
            yield RULE.at(
                each.at.below(path), f"{each.display} {what} of ClusterSecretStore `{store}`; {may}"
            )


def _reads(body: dict[str, Any]) -> Iterator[tuple[tuple[Step, ...], str, str]]:
    """Yield path, store and key of everything that is read of a store for all namespaces; a search has no key."""
    common = mapping(body, "spec", "secretStoreRef")
    for field, way in (
        ("data", ("remoteRef", "key")),
        ("dataFrom", ("extract", "key")),
        ("dataFrom", ("find",)),
    ):
        for at, entry in lookup(body, ("spec", field, EVERY)):
            store = mapping(entry, "sourceRef", "storeRef") or common
            # A SecretStore stands in the team's own namespace and was made for it.
            if store.get("kind") == "ClusterSecretStore":
                for path, key in lookup(entry, way, at):
                    yield path, str(store.get("name")), "" if way == ("find",) else str(key)


def _is_below(key: str, path: str) -> bool:
    """Tell whether a key lies below a path that ends with a slash, without going up again on its way."""
    return key.startswith(path) and {"", ".", ".."}.isdisjoint(key.split("/"))


CHECK = Check(RULE, find)
