"""Find objects of the tree whose name is taken by what somebody else made."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model.facts import place_of
from trainyard.model.live import Live
from trainyard.model.manifest import Manifest
from trainyard.model.readable import CRDS, KUEUE_FILE, KUEUE_OPERATOR, NAMESPACES, NODES, TABLE
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/name-taken",
    severity=Severity.ERROR,
    summary="No object of the cluster that somebody else made has the name of one of the tree.",
    why="""
        Argo CD takes over whatever has the name, by force: fields that Git states are overwritten,
        and those that `kubectl apply` set and Git lacks are deleted. Another Application that has
        the object puts it back, again and again.
    """,
    fix="""
        Rename it in the profiles, have its owner delete or rename the other object, or list it in
        `adopt.objects` of the cluster.
    """,
)
_OTHERS = frozenset({CRDS, NODES, KUEUE_FILE, KUEUE_OPERATOR})
"""Each OpenShift has one Kueue, which its administrator makes; the cluster's README.md says what
the tree takes over."""
_TAKEN = tuple(each for each in TABLE if each not in _OTHERS)
"""A team may have the namespace that it had, with all that is in it."""


def find(live: Live) -> Iterator[Diagnostic]:
    for resource in _TAKEN:
        known = {place_of(body): body for body in live.of(resource)}
        for manifest in live.made(resource):
            body = known.get((manifest.namespace, manifest.name))
            owner = live.owner(body) if body else ""
            if owner and not live.site.cluster.adoption.takes(manifest.body):
                where = f" in {manifest.namespace}" if manifest.namespace else ""
                message = f"{resource.kind} `{manifest.name}`{where} is there, made by {owner}"
                yield RULE.at(_place(live, manifest), message, cause=f"{message} ({manifest.path})")


def _place(live: Live, manifest: Manifest) -> Pointer:
    """Return the place of the name: of a namespace, the key of the team or space."""
    if not NAMESPACES.has(manifest.body):
        return manifest.at
    places = {space.namespace: space.profile.namespace_at for space in live.site.spaces}
    return places.get(manifest.name, manifest.at)


LIVE = LiveCheck(RULE, find, _TAKEN, partly=True)
