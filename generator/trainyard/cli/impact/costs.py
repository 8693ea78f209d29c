"""Describe what a change of quota, nodes or price costs a month, and who pays."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.change.impact.pools import PayerChange, PoolSize
from trainyard.change.impact.quotas import QuotaChange
from trainyard.model.money import Money


def quota_costs(change: QuotaChange) -> Iterator[str]:
    """Yield what a team's own nodes cost, if their number changes."""
    before, after = change.before, change.after
    moves = not before or not after or before.nodes != after.nodes
    if moves and change.month_before != change.month_after:
        yield from _months(change.month_before, change.month_after)


def pool_costs(before: PoolSize, after: PoolSize) -> Iterator[str]:
    """Yield the price of a node-hour, and what all nodes of a pool cost."""
    if after.nodes and before.price != after.price:
        yield f"price of a node-hour {before.price or 'none'} -> {after.price or 'none'}"
    if (before.price, before.nodes) != (after.price, after.nodes):
        yield from _months(before.month, after.month)


def payer(change: PayerChange) -> str:
    """Return a team's cost centers."""
    return f"cost center of {change.team}: {change.before or 'none'} -> {change.after or 'none'}"


def _months(before: Money | None, after: Money | None) -> Iterator[str]:
    """Yield what nodes cost in a month on each side with a price; nothing without one."""
    if before and after and before.currency == after.currency:
        yield f"{before.display} -> {after.display} {after.currency} a month"
    elif before or after:
        known = filter(None, (before, after))
        yield f"{' -> '.join(f'{month.display} {month.currency}' for month in known)} a month"
