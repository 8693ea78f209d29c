"""Find kinds of the tree that the cluster still stores in a version that its CRD drops one day."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.facts import place_of
from trainyard.model.live import Live
from trainyard.model.lookup import text, texts
from trainyard.model.readable import CRDS
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/old-stored-version",
    severity=Severity.WARNING,
    summary="The cluster stores objects of the tree's kinds in the version that the tree writes.",
    why="""
        An operator that no longer serves the old version can't be installed: the API server refuses
        its CRD as long as `status.storedVersions` names the version.
    """,
    fix="""
        Write each object once, e.g. by the operator's script, then take the version out of
        `status.storedVersions`.
    """,
)


def find(live: Live) -> Iterator[Diagnostic]:
    written: dict[tuple[str, str], str] = {}
    for manifest in live.delivered:
        group, _, version = manifest.body["apiVersion"].rpartition("/")
        written[group, manifest.kind.name] = version
    for crd in map(dict, live.of(CRDS)):
        kind = text(crd, "spec", "group"), text(crd, "spec", "names", "kind")
        stored = texts(crd, "status", "storedVersions")
        others = [each for each in stored if kind in written and each != written[kind]]
        # A cluster that has not stored the tree's version yet is older than its release.
        if others and written[kind] in stored:
            name = place_of(crd)[1]
            message = f"{name} has objects stored as {', '.join(others)}, not {written[kind]}"
            yield RULE.at(live.at / "release", message)


LIVE = LiveCheck(RULE, find, (CRDS,))
