"""The cost of clusters as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.capacity.cost import Cost, PoolCost
from trainyard.cli.capacity.markdown import table
from trainyard.cli.console import printable
from trainyard.cli.cost.wording import head, kept, left_out, price, row, sums, total
from trainyard.render.markdown import code
from trainyard.render.markdown import text as plain


def markdown(costs: Sequence[Cost]) -> str:
    """Return all clusters, each with its pools and the sums of its cost centers."""
    return "\n\n".join("\n".join(_cluster(each)) for each in costs)


def _cluster(found: Cost) -> Iterator[str]:
    yield f"## Cost of {code(printable(found.cluster))}"
    for pool in found.pools:
        yield ""
        yield from _pool(pool)
    if found.pools:
        yield from ("", "### All pools", "")
        rows = [(payer, f"{month.display} {month.currency}") for payer, month in sums(found)]
        yield from table(("cost center", "a month"), rows)
    if pools := left_out(found):
        yield from ("", f"{plain(printable(pools))}.")


def _pool(pool: PoolCost) -> Iterator[str]:
    yield from (f"### Pool {code(printable(pool.capacity.name))}", "", f"{plain(price(pool))}.", "")
    yield from table(head(pool), [*(row(pool, each) for each in pool.shares), total(pool)])
    yield from ("", f"{plain(kept(pool)[:1].upper() + kept(pool)[1:])}.")
