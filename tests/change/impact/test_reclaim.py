"""Who loses nodes to others: by a formula, and by trying every mix of jobs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.change.impact.hierarchy import Forest
from tests.change.impact.mixes import Holding, fits, worst_demand
from trainyard.change.impact.reclaim import Member, causes

_TEAMS = ("a", "b", "c")


@st.composite
def holding(draw: st.DrawFn) -> Holding:
    """Return what a team has: its own nodes, some of them lent, in one of two trees."""
    own = draw(st.integers(0, 3))
    lend = draw(st.integers(0, own))
    return Holding(own, draw(st.integers(0, 3)), lend, draw(st.sampled_from(("one", "one", "two"))))


HOLDINGS = st.fixed_dictionaries({team: holding() for team in _TEAMS})


def _members(holdings: Mapping[str, Holding]) -> dict[str, Member]:
    return {
        team: Member(
            Fraction(each.own), Fraction(each.borrow), Fraction(each.lend), (each.root, "")
        )
        for team, each in holdings.items()
    }


@settings(max_examples=60)
@given(HOLDINGS, HOLDINGS)
def test_team_loses_nodes_exactly_when_some_jobs_fit_before_and_not_after(
    old: dict[str, Holding], new: dict[str, Holding]
) -> None:
    for team in _TEAMS:
        if new[team].own > old[team].own:
            continue  # The formula adds up what all lenders take, which no job may meet at once.
        loses = bool(causes(team, _members(old), _members(new)))
        assert loses == worst_demand(team, old, new).evicts, team


@given(HOLDINGS)
def test_nobody_loses_by_no_change(holdings: dict[str, Holding]) -> None:
    members = _members(holdings)
    assert not any(causes(team, members, members) for team in _TEAMS)


@settings(max_examples=400)
@given(
    HOLDINGS,
    st.tuples(*(st.integers(0, 2) for _ in _TEAMS)),
    st.permutations(_TEAMS),
    st.tuples(*(st.integers(0, 6) for _ in _TEAMS)),
)
def test_levels_below_a_root_change_nothing(
    holdings: dict[str, Holding], depths: tuple[int, ...], order: list[str], counts: tuple[int, ...]
) -> None:
    """So the formula reads the root alone, and the mixes above judge trees of three levels too."""
    forest = Forest()
    for team, depth in zip(_TEAMS, depths, strict=True):
        root = holdings[team].root
        levels = (root, f"{root}-middle", f"{root}-{team}")
        forest.add(team, holdings[team], levels[: depth + 1])
    used = dict(zip(order, counts, strict=True))
    assert forest.fits(used) == fits(holdings, used)


def test_cause_is_who_changed() -> None:
    """A team on a borrowed node loses it to the owner of fewer, not to one that keeps all."""
    old = {"a": Holding(1, 1, 1, "one"), "b": Holding(2, 0, 2, "one"), "c": Holding(2, 0, 2, "one")}
    new = {**old, "b": Holding(1, 0, 1, "one")}
    assert causes("a", _members(old), _members(new)) == {"b"}
    assert causes("b", _members(old), _members(new)) == {"b"}
    assert causes("c", _members(old), _members(new)) == set()
