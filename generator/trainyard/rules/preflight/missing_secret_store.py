"""Find secret stores that can't give the tree's Secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.facts import Body, condition, named, place_of
from trainyard.model.live import AFTER, Live
from trainyard.model.lookup import mappings, text, texts
from trainyard.model.manifest import Manifest
from trainyard.model.readable_of_others import SECRET_STORES
from trainyard.model.readable_of_tree import EXTERNAL_SECRETS
from trainyard.model.selector import selects
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/missing-secret-store",
    severity=Severity.ERROR,
    summary="Each secret store is ready and serves each namespace that needs it.",
    why="""
        The Secret is not made: images are not pulled, and jobs can't reach their object store.
    """,
    fix="Have the store's owner put it right, or name another one in the cluster's profile.",
)


def find(live: Live) -> Iterator[Diagnostic]:
    stores = named(live.of(SECRET_STORES))
    made = {place_of(body): body for body in live.of(EXTERNAL_SECRETS)}
    for manifest in live.made(EXTERNAL_SECRETS):
        name = text(manifest.body, "spec", "secretStoreRef", "name")
        fault = _fault(live, stores.get(name), manifest)
        if fault:
            yield RULE.at(manifest.at, f"secret store `{name}` {fault}")
        elif live.phase == AFTER and not _is_ready(
            made.get((manifest.namespace, manifest.name), {})
        ):
            message = f"ExternalSecret `{manifest.name}` in {manifest.namespace} is not ready"
            yield RULE.at(manifest.at, message)


def _fault(live: Live, store: Body | None, manifest: Manifest) -> str:
    """Return why a store does not serve an object; empty if it does."""
    if store is None:
        return "does not exist"
    if not _is_ready(store):
        return "is not ready"
    conditions = mappings(dict(store), "spec", "conditions")
    labels = live.labels_of(manifest.namespace)
    if not conditions or any(_admits(each, manifest.namespace, labels) for each in conditions):
        return ""
    return f"does not serve namespace {manifest.namespace}"


def _admits(each: dict[str, object], namespace: str, labels: dict[str, str]) -> bool:
    """Return whether a store's condition admits a namespace."""
    chosen = each.get("namespaceSelector")
    if namespace in texts(each, "namespaces") or (chosen is not None and selects(chosen, labels)):
        return True
    return any(_matches(pattern, namespace) for pattern in texts(each, "namespaceRegexes"))


def _matches(pattern: str, namespace: str) -> bool:
    try:
        return re.search(pattern, namespace) is not None
    except re.error:
        return False


def _is_ready(body: Body) -> bool:
    return condition(body, "Ready").get("status") == "True"


def _has_secrets(live: Live) -> bool:
    return bool(live.made(EXTERNAL_SECRETS))


LIVE = LiveCheck(RULE, find, (SECRET_STORES, EXTERNAL_SECRETS), concerns=_has_secrets)
