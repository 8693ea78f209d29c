"""Further names of queues, by which manifests of a site ask for them."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.diagnostics import Pointer


@dataclass(frozen=True, slots=True)
class QueueName:
    """A LocalQueue beside those that each namespace has.

    Args:
        node_class: whose queue it leads to, ``gpu`` or ``cpu``.
    """

    name: str
    node_class: str
    at: Pointer
