"""States of a team, a cluster and a pool, in the order in which they end."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.diagnostics import Pointer

_ORDER = ("active", "held", "draining", "retired")
_POLICIES = {"active": "None", "held": "Hold", "draining": "HoldAndDrain"}
_WORDS = {policy: word for word, policy in _POLICIES.items()}


@dataclass(frozen=True, slots=True)
class State:
    """A state, and the place that states it.

    Args:
        word: ``active``, ``held`` (queues admit no job, running ones end), ``draining`` (queues
            evict all jobs and admit none) or ``retired``.
        whose: that states it, e.g. ``cluster lab``.
    """

    word: str
    at: Pointer
    whose: str

    @property
    def step(self) -> int:
        """How far it is on the way to the end."""
        return _ORDER.index(self.word)

    @property
    def is_open(self) -> bool:
        """Whether queues admit jobs."""
        return self.word == "active"

    @property
    def stop_policy(self) -> str:
        """Kueue's policy of a queue; a retired team has none (kueue:apis/kueue/v1beta2)."""
        return _POLICIES[self.word]

    @property
    def display(self) -> str:
        """The state as a sentence, e.g. ``cluster lab is held``."""
        return f"{self.whose} is {self.word}"


def word_of(policy: object) -> str:
    """Return what a queue with a policy of Kueue is; ``active`` is Kueue's default."""
    return _WORDS.get(str(policy), "active")


def furthest(*states: State) -> State:
    """Return the state that is nearest to the end; of equal ones the first."""
    return max(states, key=lambda state: state.step)
