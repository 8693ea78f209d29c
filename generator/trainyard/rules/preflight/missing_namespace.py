"""Find namespaces that the tree writes into, and that neither it nor the cluster has."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.facts import named
from trainyard.model.live import Live
from trainyard.model.manifest import Manifest
from trainyard.model.readable import NAMESPACES
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/missing-namespace",
    severity=Severity.ERROR,
    summary="Namespaces of operators that the tree writes into exist.",
    why="""
        Argo CD can't apply an object into a namespace that is not there, and stops the sync of its
        whole unit.
    """,
    fix="""
        Install the operator in this namespace, or state where it is in the cluster's profile. Where
        the dump is short of namespaces, make it again.
    """,
)


def find(live: Live) -> Iterator[Diagnostic]:
    there = {*named(live.of(NAMESPACES)), *(each.name for each in live.made(NAMESPACES))}
    missing: dict[str, Manifest] = {}
    for manifest in live.delivered:
        if manifest.namespace and manifest.namespace not in there:
            missing.setdefault(manifest.namespace, manifest)
    for name, manifest in sorted(missing.items()):
        message = f"namespace {name} does not exist, and the tree has {manifest.path} for it"
        yield RULE.at(manifest.at, message)


LIVE = LiveCheck(RULE, find, (NAMESPACES,))
