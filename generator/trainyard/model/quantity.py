"""Kubernetes quantities as exact integers: millicores of cpu, bytes, and counts."""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil

_BINARY = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50, "Ei": 1 << 60}
_DECIMAL = {"k": 10**3, "M": 10**6, "G": 10**9}
_BYTES = re.compile(r"([1-9][0-9]*)(Ki|Mi|Gi|Ti|Pi|Ei)\Z")
_DURATION = re.compile(r"([1-9][0-9]*)(s|m|h|d)\Z")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_UNITS = {
    "": Fraction(1),
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    **{suffix: Fraction(size) for suffix, size in _BINARY.items()},
}
_QUANTITY = re.compile(
    r"([+-]?[0-9]{0,40}\.?[0-9]{0,40})(?:[eE]([+-]?[0-9]{1,3})|([A-Za-z]{0,2}))\Z", re.ASCII
)
_BYTE_RESOURCES = ("memory", "storage", "ephemeral-storage", "hugepages-2Mi", "hugepages-1Gi")


def parse_bytes(text: str) -> int:
    """Return the bytes of a quantity with a binary suffix, e.g. ``96Gi``.

    Raises:
        ValueError: for any other form; the profile schemas admit no other.
    """
    match = _BYTES.match(text)
    if match is None:
        raise ValueError(f"not a quantity of bytes: {text!r}")
    return int(match[1]) * _BINARY[match[2]]


def parse_seconds(text: str) -> int:
    """Return the seconds of a duration in whole seconds, minutes, hours or days, e.g. ``36h``.

    Raises:
        ValueError: for any other form; the profile schemas admit no other.
    """
    match = _DURATION.match(text)
    if match is None:
        raise ValueError(f"not a duration: {text!r}")
    return int(match[1]) * _SECONDS[match[2]]


def parse_days(text: str) -> int:
    """Return the days of a duration in whole days, e.g. ``7d``.

    Raises:
        ValueError: for any other form; the profile schemas admit no other.
    """
    return parse_seconds(text) // _SECONDS["d"]


def format_seconds(seconds: int) -> str:
    """Return a duration in the largest unit without a fraction, e.g. ``36h``."""
    unit = next(unit for unit in ("d", "h", "m", "s") if seconds % _SECONDS[unit] == 0)
    return f"{seconds // _SECONDS[unit]}{unit}"


def format_bytes(number: int) -> str:
    """Return the canonical form that the API server stores: the largest suffix without a fraction.

    Source: kubernetes/apimachinery:pkg/api/resource/quantity.go (CanonicalizeBytes, BinarySI).
    """
    for suffix, size in reversed(_BINARY.items()):
        if number and number % size == 0:
            return f"{number // size}{suffix}"
    return str(number)


def format_count(number: int) -> str:
    """Return the canonical form of a count: 1664 as it is, 2000 as ``2k`` (DecimalSI)."""
    for suffix, size in reversed(_DECIMAL.items()):
        if number and number % size == 0:
            return f"{number // size}{suffix}"
    return str(number)


def counted(number: int, noun: str) -> str:
    """Return a number of things as text, e.g. ``1 node`` or ``8 nodes``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def format_nodes(number: Fraction, parts: int, noun: str) -> str:
    """Return nodes as text, a part of one in its own unit, e.g. ``3 nodes and 2 of 8 GPUs``.

    Args:
        number: of nodes; its denominator divides ``parts``.
        parts: that a node has.
        noun: name of a part.
    """
    whole, rest = divmod(number, 1)
    part = f"{rest * parts} of {counted(parts, noun)}"
    if not rest:
        return counted(whole, "node")
    return f"{counted(whole, 'node')} and {part}" if whole else f"{part} of a node"


def format_cpu(millicores: int) -> str:
    """Return ``16`` for 16000 millicores, ``2k`` for 2,000,000 and ``500m`` for 500."""
    return format_count(millicores // 1000) if millicores % 1000 == 0 else f"{millicores}m"


def format_amount(resource: str, number: int) -> str:
    """Return an amount of a resource in the form the API server would store."""
    if resource == "cpu":
        return format_cpu(number)
    if resource in _BYTE_RESOURCES:
        return format_bytes(number)
    return format_count(number)


def parse_amount(text: str) -> Fraction:
    """Return the amount of any quantity, cpu in cores.

    Source: kubernetes/apimachinery:pkg/api/resource/quantity.go (ParseQuantity).

    Raises:
        ValueError: it is not a quantity.
    """
    match = _QUANTITY.match(text)
    if match is None or not any(map(str.isdigit, match[1])) or (match[3] or "") not in _UNITS:
        raise ValueError(f"not a quantity: {text[:100]!r}")
    return Fraction(match[1]) * _UNITS[match[3] or ""] * Fraction(10) ** int(match[2] or 0)


def whole_number(text: str) -> int | None:
    """Return a whole number that is written in digits only; None for any other text.

    More digits than any number of a job has are none: Python refuses to read thousands.
    """
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else None


def in_base_units(resource: str, text: str) -> int:
    """Return any quantity in base units, rounded up as Kueue does: millicores, bytes or a count.

    Source: kubernetes-sigs/kueue:pkg/resources/requests.go (ResourceValue).

    Raises:
        ValueError: it is not a quantity.
    """
    return ceil(parse_amount(text) * (1000 if resource == "cpu" else 1))
