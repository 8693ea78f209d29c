"""The table of all reactions, and what it says about an edit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from trainyard.change.impact.model import Sides
from trainyard.change.impact.reaction import Edited, Reaction
from trainyard.change.impact.reactions import (
    delivery,
    fabric,
    flavors,
    jobs,
    monitoring,
    nodes,
    queues,
    spaces,
)

REACTIONS = (
    *monitoring.REACTIONS,
    *queues.REACTIONS,
    *flavors.REACTIONS,
    *jobs.REACTIONS,
    *nodes.REACTIONS,
    *fabric.REACTIONS,
    *spaces.REACTIONS,
    *delivery.REACTIONS,
)


def _by_change() -> Mapping[tuple[str, str], tuple[Reaction, ...]]:
    found: dict[tuple[str, str], list[Reaction]] = defaultdict(list)
    for reaction in REACTIONS:
        found[reaction.kind, reaction.change].append(reaction)
    return {key: tuple(each) for key, each in found.items()}


_REACTIONS = _by_change()


def reaction_to(sides: Sides, edited: Edited, change: str) -> Reaction | None:
    """Return what happens; None for a kind that the table lacks.

    Args:
        sides: of the cluster.
        edited: the object and its field.
        change: what happens to the object, as the table calls it.
    """
    fitting = (
        each
        for each in _REACTIONS.get((edited.change.identity.kind, change), ())
        if each.fits(sides, edited)
    )
    return next(fitting, None)
