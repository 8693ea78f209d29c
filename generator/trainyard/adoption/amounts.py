"""Read amounts of a dump, and write them as people do."""

from __future__ import annotations

from typing import Any

from trainyard.diagnostics import TreeError
from trainyard.model.quantity import format_amount, in_base_units


def read_amount(resource: str, value: Any, part: str) -> int:
    """Return an amount in base units.

    Args:
        resource: its name.
        value: as the object has it.
        part: kind and name of the object that has it, for messages.

    Raises:
        TreeError: it is not a quantity.
    """
    try:
        return in_base_units(resource, str(value)[:40])
    except ValueError as error:
        raise TreeError(f"{part[:120]}: {resource[:80]} is {error}") from error


def shown(resource: str, amount: int | None) -> str:
    """Return an amount for a table; a missing limit is `all`."""
    return "all" if amount is None else format_amount(resource, amount)


def difference(resource: str, was: int, becomes: int) -> str:
    """Return what is added or taken, with its sign; `0` where nothing is."""
    change = becomes - was
    if not change:
        return "0"
    return f"{'+' if change > 0 else '-'}{format_amount(resource, abs(change))}"
