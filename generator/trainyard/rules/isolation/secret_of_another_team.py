"""Compare each key that an ExternalSecret reads with the team's own paths in the store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.diagnostics import Diagnostic, Rule, Severity, Step
from trainyard.model.lookup import EVERY, lookup, mapping
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._components import ComponentObject, component_objects, distinct

RULE = Rule(
    id="isolation/secret-of-another-team",
    severity=Severity.ERROR,
    summary="A component's ExternalSecret reads only below the team's own path in a store.",
    why="""
        Keys of another team or of the platform become a Secret that every member of this team may
        mount: the store lets the operator read every path.
    """,
    fix="""
        Use keys below `PATH/TEAM/` of a storage entry, and let the owner copy there what the team
        needs.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    secrets = component_objects(platform, "ExternalSecret")
    yield from distinct(finding for secret in secrets for finding in _findings(secret))


def _findings(each: ComponentObject) -> Iterator[Diagnostic]:
    for path, store, key in _reads(each.body):
        own = _own_paths(each, store)
        if not any(_is_below(key, path) for path in own):
            read = f"reads `{key}`" if key else "reads all keys that its search finds"
            permitted = ", ".join(f"below `{path}`" for path in own) or "nothing there"
            message = (
                f"{each.display} {read} in ClusterSecretStore `{store}`; team {each.tenant.name} "
                f"may read {permitted}"
            )
            yield RULE.at(each.at.below(path), message)


def _own_paths(each: ComponentObject, store: str) -> list[str]:
    """Return the paths of a store that belong to the team of an object, each with a slash."""
    storages = (one for one in each.site.cluster.storage if one.secret_store)
    return [
        f"{one.path}/{each.tenant.team.folder}/" for one in storages if one.secret_store == store
    ]


def _reads(body: dict[str, Any]) -> Iterator[tuple[tuple[Step, ...], str, str]]:
    """Yield path, store and key of each read from a ClusterSecretStore; a search has no key."""
    common = mapping(body, "spec", "secretStoreRef")
    for field, fields in (
        ("data", ("remoteRef", "key")),
        ("dataFrom", ("extract", "key")),
        ("dataFrom", ("find",)),
    ):
        for at, entry in lookup(body, ("spec", field, EVERY)):
            store = mapping(entry, "sourceRef", "storeRef") or common
            # A SecretStore is in the team's own namespace and was created for the team.
            if store.get("kind") == "ClusterSecretStore":
                for path, key in lookup(entry, fields, at):
                    yield path, str(store.get("name")), "" if fields == ("find",) else str(key)


def _is_below(key: str, path: str) -> bool:
    """Return whether a key is below a path that ends with a slash, without `..`."""
    return key.startswith(path) and {"", ".", ".."}.isdisjoint(key.split("/"))


CHECK = Check(RULE, find)
