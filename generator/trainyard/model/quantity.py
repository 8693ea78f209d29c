"""Kubernetes quantities as exact integers: millicores of cpu, bytes, and counts."""

from __future__ import annotations

import re
from fractions import Fraction

_BINARY = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50, "Ei": 1 << 60}
_DECIMAL = {"k": 10**3, "M": 10**6, "G": 10**9}
_BYTES = re.compile(r"([1-9][0-9]*)(Ki|Mi|Gi|Ti|Pi|Ei)\Z")
_AMOUNT = re.compile(r"([0-9]+)(m|k|M|G|Ki|Mi|Gi|Ti|Pi|Ei)?\Z")
_DURATION = re.compile(r"([1-9][0-9]*)(s|m|h|d)\Z")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
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


def format_nodes(number: Fraction, gpus: int) -> str:
    """Return nodes as text, a part of one in GPUs, e.g. ``3 nodes and 2 of 8 GPUs``.

    Args:
        number: of nodes; its denominator divides ``gpus``.
        gpus: of one node; 0 for a CPU node, which is never divided.
    """
    whole, rest = divmod(number, 1)
    part = f"{rest * gpus} of {counted(gpus, 'GPU')}"
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
    """Return the amount of a quantity in the form of `format_amount`, cpu in cores.

    Raises:
        ValueError: for any other form.
    """
    match = _AMOUNT.match(text)
    if match is None:
        raise ValueError(f"not a canonical quantity: {text!r}")
    number, suffix = int(match[1]), match[2]
    if suffix == "m":
        return Fraction(number, 1000)
    return Fraction(number * {**_DECIMAL, **_BINARY}.get(suffix, 1))
