"""The cost of clusters as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.capacity.cost import Cost, PoolCost
from trainyard.cli.capacity.markdown import table
from trainyard.cli.console import printable
from trainyard.cli.cost.wording import center, head, kept, left_out, price, row, total
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
        sums = [
            (center(each), _sum(each.month.display, each.month.currency)) for each in found.centers
        ]
        sums += [("all", _sum(each.display, each.currency)) for each in found.months]
        yield from table(("cost center", "a month"), sums)
    if pools := left_out(found):
        yield from ("", f"{plain(printable(pools))}.")


def _pool(pool: PoolCost) -> Iterator[str]:
    yield from (f"### Pool {code(printable(pool.capacity.name))}", "", f"{plain(price(pool))}.", "")
    yield from table(head(pool), [*(row(pool, each) for each in pool.shares), total(pool)])
    yield from ("", f"{plain(kept(pool)[:1].upper() + kept(pool)[1:])}.")


def _sum(number: str, currency: str) -> str:
    return f"{number} {currency}"
