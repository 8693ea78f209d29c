from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trainyard.cli.capacity.bars import BEYOND, EMPTY, FILLED, bar

NUMBERS = st.integers(0, 1000)


@given(NUMBERS, NUMBERS, st.integers(2, 40))
def test_bar_is_exact_at_its_ends(part: int, whole: int, width: int) -> None:
    """Empty only for nothing, full only for the whole, and with an arrow only beyond it."""
    drawn = bar(part, whole, width)

    assert len(drawn) == width
    assert (BEYOND in drawn) == (part > whole)
    assert (drawn == FILLED * width) == (part == whole > 0)
    assert (drawn == EMPTY * width) == (part == 0)


@given(st.integers(1, 1000), st.integers(2, 40))
def test_bar_never_shrinks_when_the_part_grows(whole: int, width: int) -> None:
    filled = [bar(part, whole, width).count(FILLED) for part in range(whole + 1)]

    assert filled == sorted(filled)
