"""Quantities against exact fractions, and back again."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.model.quantity import (
    format_amount,
    format_bytes,
    format_count,
    format_cpu,
    format_seconds,
    in_base_units,
    parse_amount,
    parse_bytes,
    parse_seconds,
    whole_number,
)

Suffixes = Mapping[str, Fraction]

BINARY = {
    "": Fraction(1),
    **{f"{prefix}i": Fraction(1024**power) for power, prefix in enumerate("KMGTPE", 1)},
}
DECIMAL = {each: Fraction(1000) ** power for power, each in enumerate(("m", "", "k", "M", "G"), -1)}


def canonical(number: Fraction | int, suffixes: Suffixes) -> str:
    """Return a quantity as Kubernetes defines its canonical form: no fraction, and the largest
    suffix there is."""
    whole = {suffix: number / size for suffix, size in suffixes.items()}
    shortest = min(
        (each for each in whole.items() if each[1].denominator == 1), key=lambda each: each[1]
    )
    return f"{shortest[1]}{shortest[0]}" if number else "0"


def value(text: str, suffixes: Suffixes) -> Fraction:
    """Return the value of a quantity, by its last letters."""
    digits = text.rstrip("KMGTPEimk")
    return int(digits) * suffixes[text[len(digits) :]]


def numbers(largest: int, base: int) -> st.SearchStrategy[int]:
    """Integers from nothing to the largest, round ones as often as odd ones."""
    round_ones = st.builds(
        lambda n, power: n * base**power, st.integers(0, 2000), st.integers(0, 5)
    )
    return st.one_of(st.integers(0, largest), round_ones.filter(lambda n: n <= largest))


BYTES = numbers(2**50 - 1, 1024).map(lambda n: n * 1024)
"""Multiples of 1 KiB below 1 EiB: profiles say no other amounts, and sums and multiples of them are
none either."""

COUNTS = numbers(10**12 - 1, 1000)
MILLICORES = numbers(10**14, 10)


@given(BYTES)
def test_bytes_are_canonical(number: int) -> None:
    """What we emit is what the API server stores, or each sync would show a difference."""
    assert format_bytes(number) == canonical(number, BINARY)


@pytest.mark.parametrize("number", [1 << 60, 7 << 60])
def test_exbibytes_are_canonical(number: int) -> None:
    """The largest suffix of the API server is Ei."""
    assert format_bytes(number) == canonical(number, BINARY)


@given(COUNTS)
def test_counts_are_canonical(number: int) -> None:
    """k, M and G are used exactly when a number is a multiple of theirs."""
    assert format_count(number) == canonical(
        number, {each: size for each, size in DECIMAL.items() if each != "m"}
    )


@given(MILLICORES)
def test_cpu_is_canonical(millicores: int) -> None:
    """Millicores stay where a core is divided; whole cores are counts."""
    assert format_cpu(millicores) == canonical(Fraction(millicores, 1000), DECIMAL)


@given(BYTES.filter(bool))
def test_bytes_come_back(number: int) -> None:
    """Nothing is rounded: what was formatted is read as the same number."""
    assert parse_bytes(format_bytes(number)) == number


@given(st.integers(1, 10**6), st.sampled_from(sorted(BINARY.keys() - {""})))
def test_quantity_is_read_exactly(number: int, suffix: str) -> None:
    """The suffix is a power of 1024; the text of a profile comes back in canonical form, worth the
    same."""
    read = parse_bytes(f"{number}{suffix}")

    assert read == number * BINARY[suffix]
    assert value(f"{number}{suffix}", BINARY) == read


@given(st.from_regex(r"[0-9+-]{0,2}[0-9.]{0,3}[KMGTPEkim]{0,3}\n?", fullmatch=True))
def test_any_other_text_is_no_quantity(text: str) -> None:
    """Only a positive integer and a binary suffix is read, whatever else Kubernetes would admit."""
    suffix = text[-2:]
    digits = text[:-2]
    good = suffix in BINARY and digits.isdecimal() and not digits.startswith("0")

    if good:
        assert parse_bytes(text) == int(digits) * BINARY[suffix]
    else:
        with pytest.raises(ValueError, match="not a quantity of bytes"):
            parse_bytes(text)


@pytest.mark.parametrize(
    "text", ["", "0Gi", "01Gi", "1.5Gi", "-1Gi", "1G", "1gi", "1 Gi", " 1Gi", "1Gi\n", "1e3", "٣Gi"]
)
def test_odd_text_is_no_quantity(text: str) -> None:
    """Forms that people try, and those that other readers would take."""
    with pytest.raises(ValueError, match="not a quantity of bytes"):
        parse_bytes(text)


@given(st.integers(0, 10**6).map(lambda n: n * 1024))
def test_amount_is_in_the_form_of_its_resource(number: int) -> None:
    """The name of a resource decides its unit: millicores, bytes, or a count."""
    for name in ("memory", "storage", "ephemeral-storage", "hugepages-2Mi", "hugepages-1Gi"):
        assert format_amount(name, number) == format_bytes(number)
    for name in ("pods", "nvidia.com/gpu", "openshift.io/dgx_h100_rail_0", "requests.memory-like"):
        assert format_amount(name, number) == format_count(number)
    assert format_amount("cpu", number) == format_cpu(number)


@given(COUNTS, MILLICORES, BYTES)
def test_formatted_amount_has_the_value_of_the_number(
    count: int, millicores: int, size: int
) -> None:
    """Its value is the same in each form."""
    assert value(format_count(count), DECIMAL) == count
    assert value(format_cpu(millicores), DECIMAL) == Fraction(millicores, 1000)
    assert value(format_bytes(size), BINARY) == size


@given(st.integers(0, 10**6), st.sampled_from(sorted({**BINARY, **DECIMAL})))
def test_amount_is_read_exactly(number: int, suffix: str) -> None:
    assert parse_amount(f"{number}{suffix}") == number * {**BINARY, **DECIMAL}[suffix]


SECONDS = {"m": 60, "h": 60 * 60, "d": 24 * 60 * 60}


@given(st.integers(1, 99999), st.sampled_from(sorted(SECONDS)))
def test_duration_is_read_exactly(number: int, unit: str) -> None:
    """Minutes, hours and days; nothing is rounded."""
    assert parse_seconds(f"{number}{unit}") == number * SECONDS[unit]


@given(st.integers(1, 10**9))
def test_duration_is_displayed_in_the_largest_unit(seconds: int) -> None:
    """The text has the same seconds, in the largest unit without a fraction."""
    shown = format_seconds(seconds)
    number, unit = int(shown[:-1]), shown[-1]

    assert number * {"s": 1, **SECONDS}[unit] == seconds
    assert [
        each
        for each, size in SECONDS.items()
        if size > {"s": 1, **SECONDS}[unit] and seconds % size == 0
    ] == []


@given(st.integers(1, 99999), st.sampled_from(sorted(SECONDS)))
def test_duration_comes_back(number: int, unit: str) -> None:
    """The text of a profile's duration is read as the same time."""
    seconds = parse_seconds(f"{number}{unit}")

    assert parse_seconds(format_seconds(seconds)) == seconds


@pytest.mark.parametrize(
    "text", ["", "0h", "01h", "1.5h", "-1h", "1ms", "1H", "1 h", " 1h", "1h\n", "90", "1h30m", "٣h"]
)
def test_odd_text_is_no_duration(text: str) -> None:
    """Forms that people try, and those that other readers would take."""
    with pytest.raises(ValueError, match="not a duration"):
        parse_seconds(text)


@given(st.integers(0, 10**18), st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]))
def test_formatted_amount_is_read_back(number: int, resource: str) -> None:
    assert in_base_units(resource, format_amount(resource, number)) == number


@pytest.mark.parametrize(
    ("resource", "text", "expected"),
    [
        ("cpu", "1.5", 1500),
        ("cpu", "100u", 1),
        ("memory", "1e3", 1000),
        ("memory", "1.5Gi", 3 << 29),
        ("nvidia.com/gpu", "+2", 2),
        ("pods", "2k", 2000),
        ("pods", "1E", 10**18),
        ("pods", "-1", -1),
    ],
)
def test_any_quantity_is_read_and_rounded_up(resource: str, text: str, expected: int) -> None:
    assert in_base_units(resource, text) == expected


@pytest.mark.parametrize(
    "text", ["", "Gi", "1 Gi", "1Zi", "e3", "1e", "0x1", "1\n", ".", "1K", "1 ", "None", "٣"]
)
def test_other_text_is_no_quantity(text: str) -> None:
    with pytest.raises(ValueError, match="not a quantity"):
        in_base_units("memory", text)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("8", 8),
        ("007", 7),
        ("9" * 18, int("9" * 18)),
        *(
            (text, None)
            for text in ("", "-1", "+1", "1.0", " 1", "1\n", "\u0663", "\u00b2", "9" * 19)
        ),
        ("9" * 5000, None),
    ],
)
def test_whole_number_is_digits_only(text: str, number: int | None) -> None:
    """Python's own reader takes Unicode's digits, and refuses thousands of them."""
    assert whole_number(text) == number


@pytest.mark.parametrize("text", ["9" * 81, "9" * 5000, f"0.{'1' * 5000}", f"1e{'9' * 5000}"])
def test_endless_number_is_no_quantity(text: str) -> None:
    with pytest.raises(ValueError, match="not a quantity: "):
        parse_amount(text)
