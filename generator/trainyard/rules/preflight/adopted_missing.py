"""Find objects that a profile adopts, and that the facts of the cluster do not have."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.adoption import adopted_name
from trainyard.model.differences import few
from trainyard.model.facts import Body, place_of
from trainyard.model.live import Live
from trainyard.model.readable import resource_of
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/adopted-missing",
    severity=Severity.ERROR,
    summary="Each object that `adopt.objects` lists is on the cluster.",
    why="""
        The facts are of another cluster, or of a day before the import; or somebody has deleted
        the object since then, and the sync makes it anew.
    """,
    fix="""
        Read the right cluster again, or remove the entry from `adopt.objects`.
    """,
)


def find(live: Live) -> Iterator[Diagnostic]:
    known = list(_known(live))
    missing = sorted(adopted_name(body) for body, is_there in known if not is_there)
    if missing:
        message = f"`adopt.objects` lists what the cluster does not have: {few(missing)}"
        if len(missing) == len(known):
            message = (
                f"the cluster has none of the objects that `adopt.objects` lists: {few(missing)}"
            )
        yield RULE.at(live.site.cluster.adoption.at, message)


def _known(live: Live) -> Iterator[tuple[Body, bool]]:
    """Yield each adopted object whose kind was read, and whether the cluster has it."""
    unread = {each.resource for each in live.facts.unread}
    for manifest in live.delivered:
        resource = resource_of(manifest.body)
        is_adopted = live.site.cluster.adoption.takes(manifest.body)
        if is_adopted and resource and resource.display not in unread:
            places = map(place_of, live.of(resource))
            yield manifest.body, (manifest.namespace, manifest.name) in places


LIVE = LiveCheck(RULE, find, ())
