"""The cost of clusters as text of at most 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.capacity.cost import Cost, PoolCost, Share
from trainyard.cli.capacity.text import COLUMNS, cut, table, wrapped
from trainyard.cli.cost.wording import head, kept, left_out, price, row, sums, total

_CENTER = 12
"""Columns of a cost center in the table of a pool."""


def text(costs: Sequence[Cost]) -> str:
    """Return all clusters."""
    return "\n\n".join("\n".join(_cluster(each)) for each in costs)


def _cluster(found: Cost) -> Iterator[str]:
    yield cut(f"cluster {found.cluster}", COLUMNS)
    for pool in found.pools:
        yield ""
        yield from _pool(pool)
    if found.pools:
        yield ""
        yield "all pools"
        rows = [(payer, month.currency, month.display) for payer, month in sums(found)]
        yield from table(("cost center", "", "a month"), rows)
    if pools := left_out(found):
        yield ""
        yield from wrapped("", pools)


def _pool(pool: PoolCost) -> Iterator[str]:
    figures = f": {price(pool)}"
    yield cut(f"pool {pool.capacity.name}", COLUMNS - len(figures)) + figures
    yield from table(head(pool), [*(_row(pool, each) for each in pool.shares), total(pool)])
    yield from wrapped("  ", kept(pool))


def _row(pool: PoolCost, share: Share) -> tuple[str, ...]:
    team, paid_by, *numbers = row(pool, share)
    return (team, cut(paid_by, _CENTER), *numbers)
