"""Resolve further names of queues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model.queue_name import QueueName


def queue_names(fields: Mapping[str, Any], at: Pointer) -> tuple[QueueName, ...]:
    """Return the names that a team's profile, or a space in it, states.

    Args:
        fields: of the profile or the space.
        at: its place.
    """
    found = []
    for node_class, stated in sorted(fields.get("queues", {}).items()):
        place = at / "queues" / node_class
        found += [QueueName(name, node_class, place / i) for i, name in enumerate(stated)]
    return tuple(found)
