"""Compare which queues a state of a team, a cluster or a pool stops."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.change.objects import Sides
from trainyard.model.held import held_queues
from trainyard.model.platform import Site
from trainyard.model.state import State
from trainyard.model.tenant import Tenant


@dataclass(frozen=True, slots=True)
class StopChange:
    """A queue on both sides that admits jobs now or no longer, or evicts them.

    Args:
        queue: ClusterQueue, by its name after the change.
        before, after: ``active``, ``held`` or ``draining``.
        cause: whose state it is, e.g. ``cluster lab is held``; of an open queue the former one.
    """

    team: str
    queue: str
    before: str
    after: str
    cause: str


def stop_changes(sides: Sides) -> tuple[StopChange, ...]:
    """Return each queue that a state stops otherwise than before, sorted.

    What nodes in maintenance alone hold is left out: `maintenance_changes` has it.
    """
    if sides.old is None or sides.new is None:
        return ()
    maintained = held_queues(sides.old), held_queues(sides.new)
    changes = []
    for name, old, new in sides.kept_tenants():
        before, after = _states(old), _states(new)
        for node_class in sorted(before.keys() & after.keys()):
            was, now = before[node_class], after[node_class]
            words = _word(was, maintained[0]), _word(now, maintained[1])
            if was[1].word != now[1].word and words[0] != words[1]:
                state = was[1] if now[1].is_open else now[1]
                changes.append(StopChange(name, now[0], *words, state.display))
    return tuple(changes)


def closed_queues(site: Site) -> frozenset[str]:
    """Return the names of queues that a state stops."""
    found = (queue for tenant in site.tenants for queue in tenant.queues)
    return frozenset(queue.name for queue in found if not queue.state.is_open)


_Stated = tuple[str, State]
"""Name of a queue, and its state."""


def _states(tenant: Tenant) -> dict[str, _Stated]:
    """Return the queues of a team by their class of node."""
    return {queue.node_class: (queue.name, queue.state) for queue in tenant.queues}


def _word(stated: _Stated, maintained: frozenset[str]) -> str:
    """Return what Kueue does; an open queue is held when its nodes are in maintenance."""
    name, state = stated
    return "held" if state.is_open and name in maintained else state.word
