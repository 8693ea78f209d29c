"""Compare the sizes of claims, which storage can grow and never shrink."""

from __future__ import annotations

from trainyard.change.impact.model import Sides
from trainyard.change.impact.states import ClaimChange
from trainyard.model.lookup import value_at
from trainyard.model.manifest import Manifest


def claim_changes(sides: Sides) -> tuple[ClaimChange, ...]:
    """Return each claim on both sides with another size, sorted."""
    claims = (key for key in sides.before if key.kind == "PersistentVolumeClaim")
    both = sorted(key for key in claims if key in sides.after)
    changes = (
        ClaimChange(key.namespace, key.name, _size(sides.before[key]), _size(sides.after[key]))
        for key in both
    )
    return tuple(each for each in changes if each.before != each.after)


def _size(claim: Manifest) -> str:
    return str(value_at(claim.body, "spec.resources.requests.storage"))
