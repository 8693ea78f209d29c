"""What a pool costs is what its parts cost together, whoever has them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.capacity.test_measure import changes
from tests.rules.cases import platform_of
from trainyard.capacity.cost import Cost, Holder, PoolCost, cost
from trainyard.capacity.measure import measure

CLUSTER, NLP, VISION = "clusters/prod-east.yaml", "teams/nlp.yaml", "teams/vision.yaml"
PRICES = st.sampled_from(["96 USD", "98.32 EUR", "0.000001 USD", "33333.333333 JPY", "7.7 KWD"])


def cost_of(change: dict[str, Any]) -> Cost:
    platform = platform_of(change)
    (site,) = platform.sites
    return cost(site, measure(site, platform.allocations))


def priced(change: dict[str, Any], price: str) -> dict[str, Any]:
    """Return a change with a price of the pool."""
    cluster = change.get(CLUSTER, {})
    pool = {**cluster.get("pools", {}).get("dgx-h100", {}), "nodeHour": price}
    return {**change, CLUSTER: {**cluster, "pools": {"dgx-h100": pool}}}


def only(change: dict[str, Any]) -> PoolCost:
    (pool,) = cost_of(change).pools
    return pool


@given(changes(), PRICES)
def test_parts_are_all_nodes_and_cost_what_they_cost(change: dict[str, Any], price: str) -> None:
    """Also where teams own more than the pool promises."""
    found = cost_of(priced(change, price))
    (pool,) = found.pools
    nodes = change[CLUSTER]["pools"]["dgx-h100"]["nodes"]

    assert sum((each.nodes for each in pool.shares), Fraction(0)) == nodes
    assert pool.month == pool.price.month(nodes)
    assert sum(pool.gpu_hours(each.nodes) for each in pool.shares) == pool.gpu_hours(nodes)
    assert sum(each.month.minor for each in found.centers) == pool.month.minor
    assert found.months == (pool.month,)


@given(st.lists(st.integers(1, 8), min_size=2, max_size=2), PRICES)
def test_shares_of_a_node_add_up(gpus: list[int], price: str) -> None:
    """Three eighths of an odd price have no end as cents."""
    change: dict[str, Any] = {
        team: {
            "quota": {"prod-east": {"dgx-h100": {"gpus": own, "nodes": None, "borrow": None}}},
            "largestJob": None,
        }
        for team, own in zip((NLP, VISION), gpus, strict=True)
    }
    pool = only(priced(change, price))

    assert pool.capacity.unit.noun == "GPU"
    assert [each.nodes for each in pool.shares if each.team] == [Fraction(own, 8) for own in gpus]
    assert sum(each.month.minor for each in pool.shares) == pool.month.minor


def test_team_pays_for_what_it_owns_and_not_for_what_it_borrows() -> None:
    borrows = {"quota": {"prod-east": {"dgx-h100": {"borrow": 2}}}, "cohort": "research"}
    teams = {NLP: {**borrows, "costCenter": "RES-1"}, VISION: {"cohort": "research"}}
    prices = priced({**teams, CLUSTER: {"cohorts": {"research": {}}}}, "10 USD")
    shares = {each.team: each for each in only(prices).shares if each.holder is Holder.TEAM}

    assert shares["nlp"].borrowable > 0
    assert shares["nlp"].month == only(prices).price.month(shares["nlp"].nodes)
    assert (shares["nlp"].cost_center, shares["vision"].cost_center) == ("RES-1", "")


def test_draining_team_pays_and_a_retired_one_does_not() -> None:
    draining = only(priced({NLP: {"state": "draining"}}, "10 USD"))
    assert "nlp" in {each.team for each in draining.shares}
    retired = only(priced({NLP: {"state": "retired"}}, "10 USD"))
    assert "nlp" not in {each.team for each in retired.shares}
    assert retired.month == draining.month


def test_teams_of_one_cost_center_are_one_sum() -> None:
    same = {team: {"costCenter": "RES-1"} for team in (NLP, VISION)}
    found = cost_of(priced(same, "10 USD"))
    (pool,) = found.pools
    (center,) = [each for each in found.centers if each.holder is Holder.TEAM]

    assert center.name == "RES-1"
    assert center.month.minor == sum(each.month.minor for each in pool.shares if each.team)


def test_pool_without_a_price_is_named_and_in_no_sum() -> None:
    found = cost_of({})

    assert (found.pools, found.centers, found.months) == ((), (), ())
    assert [each.name for each in found.unpriced] == ["dgx-h100"]


def test_each_currency_has_its_own_sums() -> None:
    pools = {"dgx-h100": {"nodeHour": "10 USD"}, "spare": {
        "hardware": "dgx-h100", "nodes": 2, "nodeHour": "1000 JPY"}}  # fmt: skip
    found = cost_of({CLUSTER: {"pools": pools}})

    assert [each.currency for each in found.months] == ["JPY", "USD"]
    assert {each.month.currency for each in found.centers} == {"JPY", "USD"}
