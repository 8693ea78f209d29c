"""Money is exact, and the parts of a pool cost what the pool costs."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.model.money import CURRENCIES, HOURS, Money, Price, digits_of, parse_price
from trainyard.schema.profiles import profile_schema

PATTERN = profile_schema("cluster")["definitions"]["pool"]["properties"]["nodeHour"]["pattern"]
PRICES = st.builds(
    Price,
    st.decimals(0, 9_999_999, places=6).filter(lambda each: each >= 0),
    st.sampled_from(["USD", "JPY", "KWD"]),
)
PARTS = st.lists(st.fractions(-50, 5000, max_denominator=384), max_size=12)


@pytest.mark.parametrize(
    ("text", "month"),
    [
        ("98.32 USD", "71,773.60"),
        ("0.01 USD", "7.30"),
        ("0 USD", "0.00"),
        # 0.1 is not a binary fraction, and 0.000001 * 730 rounds to nothing.
        ("0.1 USD", "73.00"),
        ("0.000001 USD", "0.00"),
        # No smaller unit than the yen, and a thousandth of the dinar.
        ("15000.5 JPY", "10,950,365"),
        ("30.125 KWD", "21,991.250"),
    ],
)
def test_month_of_a_node(text: str, month: str) -> None:
    price = parse_price(text)
    assert str(price) == text
    assert price.month(1).display == month
    assert price.month(1).number == month.replace(",", "")


def test_half_of_a_cent_is_rounded_up() -> None:
    assert Price(Decimal("0.01"), "USD").month(Fraction(1, 2 * HOURS)).number == "0.01"


@given(PRICES, PARTS)
def test_parts_add_up_and_none_is_off_by_a_cent(price: Price, parts: list[Fraction]) -> None:
    months = price.months(parts)
    assert sum(each.minor for each in months) == price.month(sum(parts, Fraction(0))).minor
    for part, month in zip(parts, months, strict=True):
        assert abs(month.minor - price.exact(part)) < 1
        assert month.currency == price.currency


@given(PRICES)
def test_nothing_costs_nothing(price: Price) -> None:
    assert [each.minor for each in price.months([Fraction(1, 3), Fraction(0)])][1] == 0


@given(st.integers(-(10**24), 10**24), st.sampled_from(["USD", "JPY", "KWD"]))
def test_sums_are_decimal_text(minor: int, currency: str) -> None:
    money = Money(minor, currency)
    assert Fraction(money.number) * 10 ** digits_of(currency) == minor
    assert money.display.replace(",", "") == money.number
    assert re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", money.number)


@pytest.mark.parametrize("text", ["98.32 USD", "0.000001 JPY", "9999999 EUR"])
def test_profiles_take_prices(text: str) -> None:
    assert re.search(PATTERN, text)


@pytest.mark.parametrize(
    "text",
    ["98.32", "USD 98.32", "98,32 EUR", "-1 USD", "1e3 USD", "098 USD", ".5 USD", "98.32 usd",
     "98.32  USD", "98. USD", "98.32 USD "],
)  # fmt: skip
def test_profiles_refuse_what_is_no_price(text: str) -> None:
    assert not re.search(PATTERN, text)


def test_codes_are_those_of_the_standard() -> None:
    assert {"CHF", "EUR", "GBP", "USD"} < CURRENCIES
    assert not {"EUO", "HRK", "XAU", "XXX"} & CURRENCIES
    assert len(CURRENCIES) == 157
    assert {code for code in CURRENCIES if digits_of(code) == 3} == {
        "BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND",
    }  # fmt: skip
