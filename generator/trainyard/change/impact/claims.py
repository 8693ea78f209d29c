"""Compare the sizes of claims, which storage can grow and never shrink."""

from __future__ import annotations

from trainyard.change.impact.model import Sides
from trainyard.change.impact.states import ClaimChange
from trainyard.change.impact.values import differing
from trainyard.change.objects import Objects, of_kind
from trainyard.model.lookup import value_at


def claim_changes(sides: Sides) -> tuple[ClaimChange, ...]:
    """Return each claim on both sides with another size, sorted."""
    changes = differing(_sizes(sides.before), _sizes(sides.after))
    return tuple(ClaimChange(*claim, before, after) for claim, before, after in changes)


def _sizes(objects: Objects) -> dict[tuple[str, str], str]:
    """Return the size of each claim by its namespace and name."""
    sizes = {}
    for claim in of_kind(objects, "PersistentVolumeClaim"):
        size = value_at(claim.body, "spec.resources.requests.storage")
        sizes[claim.namespace, claim.name] = str(size)
    return sizes
