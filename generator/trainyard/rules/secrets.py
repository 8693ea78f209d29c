"""ExternalSecrets of hand-written components: what they read, and what is made of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.diagnostics import Diagnostic, Rule, Severity, Step
from trainyard.model.platform import Platform
from trainyard.model.reach import EVERY, mapping, reach
from trainyard.rules._check import Check
from trainyard.rules._components import Brought, brought, once

_Path = tuple[Step, ...]

PLAIN_TYPES = frozenset(
    {
        "Opaque",
        "kubernetes.io/basic-auth",
        "kubernetes.io/dockerconfigjson",
        "kubernetes.io/ssh-auth",
        "kubernetes.io/tls",
    }
)
"""Types of Secret that no controller adds anything to."""

SECRET_OF_ANOTHER_TEAM = Rule(
    id="isolation/secret-of-another-team",
    severity=Severity.ERROR,
    summary="A component's ExternalSecret reads below the team's own path of a store.",
    why=(
        "The store trusts the operator with every path: whatever lies there, another team's keys or the platform's,"
        " becomes a Secret that anybody of this team may mount."
    ),
    fix="Name keys below `PATH/TEAM/` of a storage entry; let the owner copy there what the team needs.",
)
MINTED_TOKEN = Rule(
    id="access/minted-token",
    severity=Severity.ERROR,
    summary="An ExternalSecret makes a plain Secret out of what a store holds, and nothing else.",
    why=(
        "Into a Secret of type kubernetes.io/service-account-token Kubernetes writes a token without end: whoever may"
        " mount it acts with the account's role (seen with Kubernetes 1.36.3). A generator makes such credentials"
        " elsewhere, and a manifest any object at all, with the operator's rights."
    ),
    fix="Keep it Opaque; who needs a role gets it under `groups` or `serviceAccounts`.",
)


def secret_of_another_team(platform: Platform) -> Iterator[Diagnostic]:
    """Compare every key with the team's own paths in the same store."""
    yield from once(found for each in brought(platform, "ExternalSecret") for found in _elsewhere(each))


def _elsewhere(each: Brought) -> Iterator[Diagnostic]:
    for path, store, key in _reads(each.body):
        own = [
            f"{storage.path}/{each.tenant.name}/"
            for storage in each.site.cluster.storage
            if storage.secret_store and storage.secret_store == store
        ]
        if not any(_is_below(key, path) for path in own):
            what = f"reads `{key}`" if key else "takes whatever it finds"
            may = f"team {each.tenant.name} may read below {', '.join(f'`{path}`' for path in own) or 'no path of it'}"
            yield SECRET_OF_ANOTHER_TEAM.at(
                each.at.below(path), f"{each.told} {what} of ClusterSecretStore `{store}`; {may}"
            )


def _reads(body: dict[str, Any]) -> Iterator[tuple[_Path, str, str]]:
    """Yield path, store and key of everything that is read of a store for all namespaces; a search has no key."""
    common = mapping(body, "spec", "secretStoreRef")
    for field, way in (("data", ("remoteRef", "key")), ("dataFrom", ("extract", "key")), ("dataFrom", ("find",))):
        for at, entry in reach(body, ("spec", field, EVERY)):
            store = mapping(entry, "sourceRef", "storeRef") or common
            # A SecretStore stands in the team's own namespace and was made for it.
            if store.get("kind") == "ClusterSecretStore":
                for path, key in reach(entry, way, at):
                    yield path, str(store.get("name")), "" if way == ("find",) else str(key)


def _is_below(key: str, path: str) -> bool:
    """Tell whether a key lies below a path that ends with a slash, without going up again on its way."""
    return key.startswith(path) and {"", ".", ".."}.isdisjoint(key.split("/"))


def minted_token(platform: Platform) -> Iterator[Diagnostic]:
    """Look at what each ExternalSecret makes and of what."""
    secrets = brought(platform, "ExternalSecret")
    yield from once(
        MINTED_TOKEN.at(each.at.below(path), f"{each.told} {what}")
        for each in secrets
        for path, what in _odd(each.body)
    )


def _odd(body: dict[str, Any]) -> Iterator[tuple[_Path, str]]:
    """Yield the path of whatever makes more than a plain Secret, and what it does."""
    for path, made in reach(body, ("spec", "target", "template", "type")):
        if made not in PLAIN_TYPES:
            yield path, f"makes a Secret of type {made}"
    for path, made in reach(body, ("spec", "target", "manifest", "kind")):
        yield path, f"makes a {made} instead of a Secret"
    for field in ("data", "dataFrom"):
        for path, generator in reach(body, ("spec", field, EVERY, "sourceRef", "generatorRef")):
            yield path, f"takes values of the generator {mapping(generator).get('kind')}"


CHECKS = (Check(SECRET_OF_ANOTHER_TEAM, secret_of_another_team), Check(MINTED_TOKEN, minted_token))
