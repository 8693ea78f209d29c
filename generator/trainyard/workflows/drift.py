"""Find what somebody changed on a cluster by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from trainyard.change.drift.compare import Drift, drift_of, unserved
from trainyard.diagnostics import Diagnostic
from trainyard.generation.generate import Generation, Run, Target
from trainyard.generation.waivers import not_waived
from trainyard.model.facts import Unread
from trainyard.model.live import AFTER, Live
from trainyard.model.readable import CLUSTER_QUEUES, LOCAL_QUEUES, TABLE
from trainyard.rules.live import unchecked
from trainyard.workflows.beside import ReadFacts, beside


@dataclass(frozen=True, slots=True)
class Drifted:
    """What was compared.

    Args:
        diagnostics: about the tree where it has errors; else what could not be compared.
        drift: None when the tree has errors, so that nothing was read.
    """

    generation: Generation
    diagnostics: tuple[Diagnostic, ...]
    drift: Drift | None = None


def drift(place: Target, today: str, run: Run, read: ReadFacts) -> Drifted:
    """Return what differs between a cluster and its committed tree.

    Args:
        place: the profiles and the committed tree, which must be what they make.
        today: ISO date that last days are compared with.
        run: what earlier commands proved.
        read: reads the cluster, once the tree is known to be right.

    Raises:
        TreeError: a file can't be read, or as `read`.
        ToolError: a schema is missing, or as `read`.
    """
    generation, found, live = beside(place, AFTER, today, run, read)
    if live is None:
        return Drifted(generation, found)
    left = tuple(not_waived(not_compared(live), generation.checked.profiles.waivers))
    return Drifted(generation, left, drift_of(live))


def not_compared(live: Live) -> Iterator[Diagnostic]:
    """Yield the kinds that could not be read, or are served in another version than the tree's."""
    added = {LOCAL_QUEUES, CLUSTER_QUEUES}
    needed = {each: ("drift",) for each in TABLE if each in added or live.made(each)}
    yield from unchecked(live, needed)
    others = tuple(
        Unread(resource.display, f"the cluster serves {version}")
        for resource, version in unserved(live)
    )
    yield from unchecked(replace(live, facts=replace(live.facts, unread=others)), needed)
