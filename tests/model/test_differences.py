"""What differs between two plain values, as paths to the fields."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.model.differences import differences

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "a", "b"]), inside, max_size=3)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_nothing_differs_from_itself(value: Any) -> None:
    assert list(differences(value, value)) == []


@given(VALUES, VALUES)
def test_values_that_differ_have_a_difference(old: Any, new: Any) -> None:
    """Also where only an order differs, or a key without a value."""
    assert bool(list(differences(old, new))) == (old != new)


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ([{"name": "a", "n": 1}], [{"name": "b"}, {"name": "a", "n": 2}], "[a].n"),
        ([{"flavors": [{"name": "h100", "n": 1}]}], [{"flavors": [{"name": "h100"}]}], "[0]"),
        ([{"n": 1}, {"n": 2}], [{"n": 1}, {"n": 3}], "[1].n"),
    ],
)
def test_members_of_a_list_are_found_by_name_or_position(old: Any, new: Any, path: str) -> None:
    paths = [each.path for each in differences(old, new)]
    assert any(each.startswith(path) for each in paths), paths


def test_order_of_names_is_a_difference() -> None:
    """A member that is new or gone changes no order."""
    one, other, more = ({"name": each, "n": 1} for each in ("h100", "h200", "h300"))
    (order,) = differences([one, other], [other, one], "flavors")
    assert (order.path, order.display) == ("flavors", "h100, h200 -> h200, h100")
    (added,) = differences([one, other], [more, one, other], "flavors")
    assert added.path == "flavors[h300]"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([{"n": 1}], [{"n": 1}, {"n": 2}]),
        ([{"name": "a", "n": 1}, {"name": "a", "n": 2}], [{"name": "a", "n": 2}]),
    ],
)
def test_list_whose_members_cannot_be_found_differs_as_a_whole(old: Any, new: Any) -> None:
    assert [each.path for each in differences(old, new, "list")] == ["list"]


def test_variable_that_is_removed_shows_its_value() -> None:
    kept, removed = {"name": "A", "value": "1"}, {"name": "B", "value": "core"}
    (difference,) = differences([kept, removed], [kept], "env")
    assert (difference.path, difference.display) == ("env[B]", "core -> none")


@given(st.text("ab", max_size=600), st.text("ab", max_size=600), st.text("ab", max_size=600))
def test_excerpt_shows_what_differs_in_long_values(start: str, one: str, other: str) -> None:
    """Both have a limit, and are never the same."""
    for found in differences(f"{start}{one}", f"{start}{other}", "reason"):
        old, _, new = found.excerpt.partition(" -> ")
        assert old != new
        assert len(found.excerpt) < 430


def test_excerpt_of_a_long_list_has_the_members_that_come_or_go() -> None:
    rules = [{"rule": f"family/rule-{number}", "reason": "because " * 5} for number in range(9)]
    (found,) = differences(rules, [*rules[:4], *rules[5:]], "waivers")

    assert found.excerpt == (
        'beside 8 that stay: [{"reason": "because because because because because ", '
        '"rule": "family/rule-4"}] -> []'
    )
