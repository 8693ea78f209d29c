"""Find what can't be compared of a cluster with its tree, or is not of this cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trainyard.change.drift.compare import unserved
from trainyard.diagnostics import Diagnostic
from trainyard.model.facts import Unread
from trainyard.model.live import Live
from trainyard.model.readable import CLUSTER_QUEUES, LOCAL_QUEUES, TABLE
from trainyard.rules.live import unchecked
from trainyard.rules.preflight.adopted_missing import LIVE as ADOPTED_MISSING


def not_compared(live: Live) -> Iterator[Diagnostic]:
    """Yield the kinds that could not be read, or are served in another version than the tree's.

    First come adopted objects that are not there: facts of another cluster or day have no drift.
    """
    yield from ADOPTED_MISSING.run(live)
    added = {LOCAL_QUEUES, CLUSTER_QUEUES}
    needed = {each: ("drift",) for each in TABLE if each in added or live.made(each)}
    yield from unchecked(live, needed)
    others = tuple(
        Unread(resource.display, f"the cluster serves {version}")
        for resource, version in unserved(live)
    )
    facts = replace(live.facts, unread=others, skipped=())
    yield from unchecked(replace(live, facts=facts), needed)
