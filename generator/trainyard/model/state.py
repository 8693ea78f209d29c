"""States of a team and of a cluster, in the order in which they end."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.diagnostics import Pointer

_ORDER = ("active", "draining", "retired")


@dataclass(frozen=True, slots=True)
class State:
    """A state, and the place that states it.

    Args:
        word: ``active``, ``draining`` or ``retired``.
    """

    word: str
    at: Pointer

    @property
    def step(self) -> int:
        """How far it is on the way to the end."""
        return _ORDER.index(self.word)


def furthest(*states: State) -> State:
    """Return the state that is nearest to the end; of equal ones the first."""
    return max(states, key=lambda state: state.step)
