"""Prices of nodes and what they cost in a month: exact, never a binary float."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import floor

HOURS = 730
"""Hours of a month: a year of 365 days has 8,760, and a month is a twelfth of it."""

_CODES = """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD
    CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD
    GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD
    KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO
    NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE
    SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UYW UZS VED VES
    VND VUV WST XAD XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
"""
_WITHOUT_PARTS = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
_IN_THOUSANDTHS = "BHD IQD JOD KWD LYD OMR TND"

CURRENCIES = frozenset(_CODES.split())
"""Codes of the currencies that people pay with (ISO 4217, list one of 2026-01-01); no funds, metals
or codes for tests."""

_DIGITS = {
    **dict.fromkeys(_WITHOUT_PARTS.split(), 0),
    **dict.fromkeys(_IN_THOUSANDTHS.split(), 3),
    "UYW": 4,
}
"""Digits after the point of each currency that does not have two (ISO 4217, list one)."""


@dataclass(frozen=True, slots=True)
class Money:
    """A sum of money, which may be negative.

    Args:
        minor: whole number of the currency's smallest unit, e.g. cents.
    """

    minor: int
    currency: str

    @property
    def number(self) -> str:
        """The sum as a decimal number, e.g. ``574188.80``."""
        return format(Decimal(self.minor).scaleb(-digits_of(self.currency)), "f")

    @property
    def display(self) -> str:
        """The sum as people read it, e.g. ``574,188.80``."""
        return format(Decimal(self.number), ",f")


@dataclass(frozen=True, slots=True)
class Price:
    """Price of a node-hour.

    Args:
        amount: as the profile states it.
    """

    amount: Decimal
    currency: str

    def __str__(self) -> str:
        """Return the price as the profile states it, e.g. ``98.32 USD``."""
        return f"{self.number} {self.currency}"

    @property
    def number(self) -> str:
        """The amount as a decimal number."""
        return format(self.amount, "f")

    def exact(self, nodes: Fraction) -> Fraction:
        """Return what nodes cost in a month, in the currency's smallest unit."""
        smallest: int = 10 ** digits_of(self.currency)
        return Fraction(self.amount) * nodes * HOURS * smallest

    def month(self, nodes: Fraction | int) -> Money:
        """Return what nodes cost in a month; half of the smallest unit is rounded up."""
        return Money(_rounded(self.exact(Fraction(nodes))), self.currency)

    def months(self, parts: Sequence[Fraction]) -> list[Money]:
        """Return what each part of a pool costs in a month; together they are what all cost.

        Rounded one by one they might not be. So those that lose most by rounding down are rounded
        up, until the sum is right.

        Args:
            parts: nodes; may be negative where teams own more than there is.
        """
        exact = list(map(self.exact, parts))
        whole = list(map(floor, exact))
        missing = self.month(sum(parts, Fraction(0))).minor - sum(whole)
        order = sorted(range(len(parts)), key=lambda i: (whole[i] - exact[i], i))
        for i in order[:missing]:
            whole[i] += 1
        return [Money(minor, self.currency) for minor in whole]


def parse_price(text: str) -> Price:
    """Return a price from a profile, e.g. ``98.32 USD``; its schema admits no other form."""
    number, _, currency = text.partition(" ")
    return Price(Decimal(number), currency)


def digits_of(currency: str) -> int:
    """Return the digits after the point of a currency; 2 for one that ISO 4217 does not have."""
    return _DIGITS.get(currency, 2)


def _rounded(number: Fraction) -> int:
    return floor(number + Fraction(1, 2))
