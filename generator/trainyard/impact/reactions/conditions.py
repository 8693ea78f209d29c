"""What else must hold for a reaction, beside the kind and the field."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.impact.model import Sides
from trainyard.impact.places import teams_that_stay
from trainyard.impact.reactions.reaction import Condition, Edited
from trainyard.model.identity import Identity
from trainyard.model.lookup import value_at
from trainyard.model.manifest import Manifest
from trainyard.model.quantity import parse_amount


def becomes(value: str) -> Condition:
    """Return the condition that a field gets a value."""
    return lambda _sides, edited: edited.values[1] == value


def is_set(_sides: Sides, edited: Edited) -> bool:
    """Return whether a field has a value afterwards."""
    return edited.values[1] is not None


def appears(_sides: Sides, edited: Edited) -> bool:
    """Return whether a field has a value afterwards only."""
    old, new = edited.values
    return old is None and new is not None


def teams_stay(sides: Sides, _edited: Edited) -> bool:
    """Return whether a team had a namespace before, and so may have finished jobs."""
    return bool(teams_that_stay(sides))


def is_lowered(_sides: Sides, edited: Edited) -> bool:
    """Return whether an amount is lowered."""
    return _is_lower(*edited.values)


def is_order(_sides: Sides, edited: Edited) -> bool:
    """Return whether a field is a list whose members have another order."""
    return all(isinstance(each, list) for each in edited.values)


def lowered_in_cohort(sides: Sides, edited: Edited) -> bool:
    """Return whether an amount is lowered in a queue that stays with others in a cohort."""
    cohort = value_at(edited.new.body, "spec.cohortName") if edited.new else None
    return bool(cohort) and is_lowered(sides, edited)


def order_changes(sides: Sides, edited: Edited) -> bool:
    """Return whether a priority passes, reaches or leaves the value of another."""
    own = edited.change.identity
    stay = sides.before.keys() & sides.after.keys()
    others = (key for key in stay if key.kind == own.kind and key != own)
    return any(_order(sides.before, own, each) != _order(sides.after, own, each) for each in others)


def of_nvidia(_sides: Sides, edited: Edited) -> bool:
    """Return whether a policy is about cards of NVIDIA, whose firmware the operator changes."""
    return bool(value_at(edited.manifest.body, "spec.nicSelector.vendor") == "15b3")


def has_parent(_sides: Sides, edited: Edited) -> bool:
    """Return whether a cohort is below another."""
    return value_at(edited.manifest.body, "spec.parentName") is not None


def _is_lower(old: object, new: object) -> bool:
    """Return whether an amount is lowered; one in a form of its own may be."""
    try:
        return parse_amount(str(new)) < parse_amount(str(old))
    except ValueError:
        return True


def _order(side: Mapping[Identity, Manifest], one: Identity, other: Identity) -> int:
    first, second = (int(side[each].body["value"]) for each in (one, other))
    return (first > second) - (first < second)
