"""The table of all reactions, and what it says about an edit."""

from __future__ import annotations

from collections import defaultdict

from trainyard.change.impact.reaction import Edited, Reaction
from trainyard.change.impact.reactions import (
    delivery,
    fabric,
    flavors,
    jobs,
    nodes,
    queues,
    spaces,
)
from trainyard.change.objects import Sides

REACTIONS = (
    *delivery.REACTIONS,
    *queues.REACTIONS,
    *flavors.REACTIONS,
    *jobs.REACTIONS,
    *nodes.REACTIONS,
    *fabric.REACTIONS,
    *spaces.REACTIONS,
)


_BY_CHANGE: defaultdict[tuple[str, str], list[Reaction]] = defaultdict(list)
for _reaction in REACTIONS:
    _BY_CHANGE[_reaction.kind, _reaction.change].append(_reaction)


def reaction_to(sides: Sides, edited: Edited, change: str) -> Reaction | None:
    """Return what happens; None for a kind that the table lacks.

    Args:
        sides: of the cluster.
        edited: the object and its field.
        change: what happens to the object, as the table calls it.
    """
    for reaction in _BY_CHANGE[edited.change.identity.kind, change]:
        if reaction.fits(sides, edited):
            return reaction
    return None
