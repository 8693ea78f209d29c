"""Find kinds of the tree that the cluster does not serve."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from operator import itemgetter

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.facts import served_by
from trainyard.model.live import Live
from trainyard.model.manifest import Manifest
from trainyard.model.readable import CRDS
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/kind-not-served",
    severity=Severity.ERROR,
    summary="The cluster serves each kind of the tree, in the version that the tree writes.",
    why="""
        Argo CD can't apply an object of an unknown kind, and stops the sync of its whole unit.
    """,
    fix="Install the operator that brings the kind, in the version that the release pins.",
)

BUILT_IN = frozenset(
    {
        "",
        "admissionregistration.k8s.io",
        "apps",
        "batch",
        "networking.k8s.io",
        "rbac.authorization.k8s.io",
    }
)
"""Groups that each API server serves by itself, of all that a tree may have."""


_Kind = tuple[str, str, str]
"""Group, kind and version."""


def find(live: Live) -> Iterator[Diagnostic]:
    served = {kind for crd in live.of(CRDS) for kind in served_by(crd)}
    wanted: dict[_Kind, Manifest] = {}
    for manifest in live.delivered:
        group, _, version = manifest.body["apiVersion"].rpartition("/")
        wanted.setdefault((group, manifest.kind.name, version), manifest)
    for kind, manifest in sorted(wanted.items(), key=itemgetter(0)):
        if kind[0] not in BUILT_IN and kind not in served:
            yield RULE.at(manifest.at, _message(kind, served))


def _message(wanted: _Kind, served: Collection[_Kind]) -> str:
    group, kind, version = wanted
    others = sorted(other for *of, other in served if of == [group, kind])
    instead = f"; it serves {', '.join(others)}" if others else ""
    return f"the cluster does not serve {kind} of {group}/{version}{instead}"


LIVE = LiveCheck(RULE, find, (CRDS,))
